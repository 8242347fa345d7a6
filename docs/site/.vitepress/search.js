// The search: which words are the same word, and which hits come first. VitePress writes these functions into each page as text, so each
// of them contains all that it uses. The index and the queries are read by the same `processTerm`.

/** Splits `outputSchema` into its words, maps names of one thing to one name, and reduces words to their stems. */
function processTerm(term) {
  const STOP = [
    'a an the my your our its it i we you me is are was were be been has have had do does did to of in on',
    'for and or that this these with from by at as how can could when which what if then so not no but',
    'there their they them than into because although will would should',
  ];
  const SAME = {
    kimi: 'moonshot',
    google: 'gemini',
    grok: 'xai',
    gpt: 'openai',
    chatgpt: 'openai',
    aws: 'bedrock',
    amazon: 'bedrock',
    converse: 'bedrock',
    copilot: 'vscode',
    llamacpp: 'llama',
    args: 'argument',
    params: 'parameter',
    reject: 'refuse',
    rejects: 'refuse',
    rejected: 'refuse',
    deny: 'refuse',
    denied: 'refuse',
    forbidden: 'refuse',
    disallowed: 'refuse',
    lose: 'drop',
    loses: 'drop',
    lost: 'drop',
    disappear: 'drop',
    disappears: 'drop',
    vanish: 'drop',
    vanished: 'drop',
    big: 'large',
    huge: 'large',
    exceed: 'maximum',
    exceeds: 'maximum',
    exceeded: 'maximum',
    max: 'maximum',
    limit: 'maximum',
    limits: 'maximum',
    shorten: 'long',
    length: 'long',
    longer: 'long',
    sent: 'send',
    sends: 'send',
    ids: 'id',
    config: 'configuration',
    recursive: 'recursion',
    circular: 'recursion',
    cyclic: 'recursion',
    overhead: 'cost',
    slow: 'cost',
    performance: 'cost',
    reply: 'response',
    answer: 'response',
    streaming: 'stream',
    javascript: 'typescript',
    js: 'typescript',
    ts: 'typescript',
  };
  const stem = (word) => {
    if (SAME[word] !== undefined && Object.hasOwn(SAME, word)) return SAME[word].replace(/e$/, '');
    let short = word;
    if (short.length > 4)
      short = short
        .replace(/ies$/, 'y')
        .replace(/(ss|x|ch|sh)es$/, '$1')
        .replace(/([^su])s$/, '$1');
    if (/[aeiouy].*(ed|ing)$/.test(short) && short.length > 5) {
      short = short.replace(/(ed|ing)$/, '').replace(/([bdfgmnprt])\1$/, '$1');
    }
    if (short.length > 6)
      short = short
        .replace(/ation$/, 'at')
        .replace(/tion$/, 't')
        .replace(/ment$/, '');
    return short.length > 3 ? short.replace(/e$/, '').replace(/y$/, 'i') : short;
  };
  const words = term.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
  const all = [term, ...(words.length > 1 ? words : [])].map((word) => word.toLowerCase());
  const terms = all.filter((word) => !STOP.some((words) => words.split(' ').includes(word))).map(stem);
  return terms.length === 0 ? null : [...new Set(terms)];
}

/** Ranks a hit by the kind of its page: help with a problem first, tables of facts last. */
function boostDocument(id) {
  const kinds = [
    [/\/cookbook\.html#/, 1.5],
    [/\/(clients|servers)\//, 1.4],
    [/\/(dialects|rules|backends|templates)/, 0.6],
    [/\/performance/, 0.5],
  ];
  const kind = kinds.find(([page]) => page.test(id));
  return kind === undefined ? 1 : kind[1];
}

/** Options of MiniSearch for the index. */
export const options = { processTerm };

/** Options of MiniSearch for queries. Only the last word may be incomplete. */
export const searchOptions = {
  boost: { title: 5, text: 2, titles: 1.5 },
  boostDocument,
  prefix: (term, index, terms) => index === terms.length - 1 && term.length > 2,
  fuzzy: (term) => (term.length > 5 ? 0.15 : false),
};

/** Renders a page for the index, without its examples in JSON and the list of the cookbook, which would repeat every title. */
export function renderForSearch(source, env, markdown) {
  const text = source.replace(/^```json\b.*\n[\s\S]*?^```$/gm, '');
  return markdown.render(env.relativePath === 'cookbook.md' ? text.replace(/^\|.*$/gm, '') : text, env);
}
