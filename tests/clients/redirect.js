// Loaded with `node --import` into a relay: its requests to any API go to the fake at $TOOLWIRE_FAKE instead. The paths, the headers and
// the name of the host stay those of the API.

import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';

const { hostname, port } = new URL(process.env.TOOLWIRE_FAKE);
const { request } = http;
const redirected = ({ agent: _, ...options }, ...rest) =>
  request({ ...options, protocol: 'http:', host: hostname, hostname, port }, ...rest);
http.request = redirected;
https.request = redirected;
syncBuiltinESMExports();
