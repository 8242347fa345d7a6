import { toolwireFetch } from 'toolwire/fetch';

const backend = async (_, { body }) => new Response(JSON.stringify({ got: JSON.parse(body).tools[0].input_schema }));
const fetch = toolwireFetch({ dialect: 'codex', fetch: backend });
const tools = [{ name: 'a', input_schema: { properties: { unit: { const: 'celsius' } } } }];
const request = { method: 'POST', body: JSON.stringify({ model: 'm', messages: [], tools }) };
fetch('http://localhost/v1/messages', request)
  .then((response) => response.json())
  .then(({ got }) => console.log(JSON.stringify(got)));
