// Generated: `cargo xtask pages`. Edit the tables, not this file.

/** The rules that change schemas and tools. */
export type ChangeRule =
  /** Replaces a value that is not a schema with an object schema. */
  | 'replace-root'
  /** Adds `type: "object"` at the root: arguments are always an object. */
  | 'add-type'
  /** Adds `properties: {}` to an object that must have `properties`. */
  | 'add-properties'
  /** Replaces a value where a schema is expected with a schema that accepts anything. */
  | 'replace-non-schema'
  /** Replaces a bare type name where a schema is expected with a schema of that type. */
  | 'type-name-to-schema'
  /** Unwraps a schema from an object such as `{"jsonSchema": …}`, or moves a map of properties under `properties`. */
  | 'unwrap-schema'
  /** Moves property schemas out of a `properties` that contains keywords of the object. */
  | 'unnest-properties'
  /** Repairs a `type` that is not a known name (aliases, wrong case) or that contradicts the values. */
  | 'repair-type'
  /** Repairs a keyword's value or spelling if the intention is clear. */
  | 'repair-keyword'
  /** Removes a keyword whose value is null. */
  | 'remove-null-keyword'
  /** Removes a keyword whose value has no meaning. */
  | 'remove-malformed-keyword'
  /** Sets `$schema` to the draft of the output. */
  | 'update-schema-uri'
  /** Splits `dependencies` into `dependentRequired` and `dependentSchemas`. */
  | 'split-dependencies'
  /** Replaces a boolean `exclusiveMinimum` or `exclusiveMaximum` of draft 4 with the number of later drafts. */
  | 'upgrade-exclusive-bound'
  /** Replaces OpenAPI's `nullable: true` with the type `null`. */
  | 'nullable-to-null'
  /** Moves a list in `items` to `prefixItems`. */
  | 'tuple-to-prefix-items'
  /** Removes an identifier that no reference needs. */
  | 'drop-identifier'
  /** Replaces a reference with its target. */
  | 'inline-ref'
  /** Points a reference at an entry of the root's `$defs`. */
  | 'rewrite-ref'
  /** Replaces `$dynamicRef` and `$recursiveRef` with `$ref`. */
  | 'dynamic-ref-to-ref'
  /** Removes a reference that does not resolve. */
  | 'unresolved-ref'
  /** Removes a reference that makes a schema apply to itself endlessly, or recursion that the API does not accept. */
  | 'cut-recursion'
  /** Expands a recursive definition a few levels deep if the API accepts no recursion. */
  | 'unroll-recursion'
  /** Removes keywords next to a reference, which have no effect in older drafts. */
  | 'drop-ref-sibling'
  /** Removes an annotation that occurs both next to `anyOf` or `$ref` and inside it. */
  | 'drop-shared-annotation'
  /** Replaces a definition that is too large to be inlined everywhere with a schema that accepts anything. */
  | 'truncate-definition'
  /** Removes a definition that nothing refers to. */
  | 'prune-definition'
  /** Adds `type: "object"` at the root: arguments are always an object. */
  | 'declare-object'
  /** Merges the branches of the root's union into one object. */
  | 'flatten-root-union'
  /** Replaces `patternProperties` with `additionalProperties` and lists the patterns in the description. */
  | 'patterns-to-additional'
  /** Replaces the schema `true` with an object schema. */
  | 'boolean-to-any'
  /** Replaces the schema `false` with `{"not": {}}`. */
  | 'boolean-to-not'
  /** Removes a keyword that the API refuses, and states it in the description if that helps. */
  | 'drop-keyword'
  /** Removes a regular expression that the API's engine cannot compile. */
  | 'drop-pattern'
  /** Rewrites a regular expression with escapes that the API's engine knows. */
  | 'respell-pattern'
  /** Removes a `format` that the API refuses. */
  | 'drop-format'
  /** Replaces an exclusive bound with an inclusive one. */
  | 'exclusive-to-inclusive'
  /** Lowers or removes a bound that is larger than the API accepts. */
  | 'clamp-bound'
  /** Reports that `uniqueItems` is weaker for encoded items: equal items may be encoded in different ways. */
  | 'loosen-unique-items'
  /** Rewrites a key of `patternProperties` that the API misreads. */
  | 'rewrite-pattern'
  /** Renames a property whose name the API misreads or refuses. */
  | 'rename-property'
  /** Removes a value with a `/` in a key, which the API mistakes for the path of a reference. */
  | 'drop-slash-key'
  /** Removes a value with a key called `$ref`, which the API mistakes for a reference. */
  | 'drop-ref-like-key'
  /** Replaces `const` with an `enum` of one value. */
  | 'const-to-enum'
  /** Splits an `enum` of several types into one branch for each type. */
  | 'split-enum'
  /** Removes an `enum`, or its values, of a type that the API does not accept in `enum`. */
  | 'drop-enum-of-type'
  /** Removes a value of an `enum` that `type` excludes. */
  | 'drop-enum-value'
  /** Removes an `enum` with more values than the API accepts. */
  | 'drop-long-enum'
  /** Moves null to the front of a list of types if the API requires it there. */
  | 'move-null-first'
  /** Lists integers, numbers and booleans as strings if the API accepts only strings. */
  | 'scalars-to-strings'
  /** Adds the type that values or keywords imply. */
  | 'infer-type'
  /** Adds `type: "string"` if nothing implies a type and an option requests it. */
  | 'assume-string'
  /** Replaces `additionalProperties: {}` with `true`. */
  | 'open-map'
  /** Replaces a schema that accepts anything with a union of all types. */
  | 'expand-any'
  /** Encodes an object without properties as a string that contains JSON. */
  | 'object-to-json'
  /** Replaces null with `nullable: true`. */
  | 'null-to-nullable'
  /** Adds `items` to an array that must have them. */
  | 'add-items'
  /** Replaces positional items with one schema for all of them. */
  | 'prefix-items-to-items'
  /** Adds `additionalProperties: true` if the API closes objects that do not declare it. */
  | 'declare-open'
  /** Replaces `oneOf` with `anyOf`. */
  | 'one-of-to-any-of'
  /** Merges the parts of `allOf` into the schema around them. */
  | 'merge-all-of'
  /** Removes one of two keywords that the merged schema cannot express together. */
  | 'merge-conflict'
  /** Merges schemas, one of which depends on its sibling keywords, so the result may accept something else. */
  | 'merge-inexact'
  /** Keeps one of two different annotations when schemas are merged. */
  | 'merge-annotations'
  /** Distributes the keywords next to `anyOf` into its branches. */
  | 'distribute-into-any-of'
  /** Replaces a union of one branch with the branch. */
  | 'unwrap-single-branch'
  /** Moves annotations from next to `anyOf` into its branches. */
  | 'distribute-annotations'
  /** Removes a union with more branches than the API accepts. */
  | 'drop-long-union'
  /** Removes an optional property that accepts no value. */
  | 'drop-never-property'
  /** Removes a branch that accepts nothing. */
  | 'drop-impossible-branch'
  /** Splits a list of types into one branch for each type. */
  | 'split-type-list'
  /** Removes names from `required` that are not properties of the same schema. */
  | 'drop-unknown-required'
  /** Wraps the schema of a response format that is not an object in an object with one property. */
  | 'wrap-root'
  /** Declares a property that only `required` names if all names must be declared. */
  | 'declare-required-property'
  /** Moves a property to the front, so that branches begin with different properties. */
  | 'reorder-properties'
  /** Merges branches that begin with the same property. */
  | 'merge-branches'
  /** Makes an optional property required, and allows null for it. */
  | 'require-optional'
  /** Adds an empty `required` to an object without properties. */
  | 'add-required'
  /** Closes an object that does not declare `additionalProperties`. */
  | 'close-object'
  /** Encodes an object with arbitrary property names as a list of key-value pairs. */
  | 'map-to-pairs'
  /** Encodes a value of any type as a string that contains JSON. */
  | 'any-to-json'
  /** Describes "any JSON" with a recursive definition. */
  | 'define-any'
  /** Replaces a branch that is a union with the branches of that union. */
  | 'flatten-union'
  /** Replaces a union that has a branch that accepts anything with that branch. */
  | 'collapse-any'
  /** Encodes values as strings that contain JSON if the API does not accept them in `enum`. */
  | 'values-to-json'
  /** Shortens descriptions until the schema fits. */
  | 'fit-shorten-description'
  /** Removes annotations until the schema fits. */
  | 'fit-drop-keyword'
  /** Removes constraints until the schema fits. */
  | 'fit-drop-constraint'
  /** Replaces the deepest parts with a schema that accepts anything, until the schema fits. */
  | 'fit-cut-schema'
  /** Removes references until no path through them nests too deeply. */
  | 'fit-cut-reference'
  /** Codex replaces a boolean schema with one for strings. */
  | 'boolean-to-string'
  /** Codex replaces a schema without a type with one that accepts anything. */
  | 'clear-untyped'
  /** Codex drops a definitions table that is not an object. */
  | 'drop-definitions-table'
  /** Codex drops descriptions of a schema that is too large. */
  | 'compact-descriptions'
  /** Codex drops references of a schema that is too large. */
  | 'compact-references'
  /** Codex drops everything below two levels in a schema that is too large. */
  | 'compact-depth'
  /** Codex drops unions of a schema that is too large. */
  | 'compact-combinators'
  /** Renames a tool whose name the API refuses. */
  | 'rename-tool'
  /** Renames a definition of a tool, because another tool has a different definition with the same name. */
  | 'rename-definition'
  /** Replaces a schema that cannot be represented with one that accepts any object. */
  | 'fallback'
  /** Removes the `outputSchema` of an MCP tool, because a client would refuse it, and with it the tool or the server. */
  | 'drop-output-schema'
  /** Removes an `x-mcp-header` for which a client would drop the tool. */
  | 'drop-mcp-header'
  /** Gives a response format a name that the API accepts. */
  | 'rename-format'
  /** Sends a response format as the arguments of a function that the model has to call. */
  | 'format-as-tool'
  /** Moves the schema of a response format to the instructions. */
  | 'format-in-prompt'
  /** Sets or removes the flag `strict`, as the dialect requires. */
  | 'strict-flag'
  /** Sends a tool or a response format without strict mode, so that the API does not enforce its schema. */
  | 'not-strict'
  /** Adds a schema to a tool without one: the tool has no arguments. */
  | 'add-schema'
  /** Omits the schema of a tool without arguments. */
  | 'omit-arguments'
  /** Accepts text for numbers and booleans, and null for optional properties, as the option `lenientTypes` demands. */
  | 'admit-text'
  /** Rewrites the examples of a tool as its arguments are rewritten, or removes one that the new schema refuses. */
  | 'rewrite-examples'
  /** Removes a description that is not a string. */
  | 'drop-description'
  /** Shortens a tool's description to the length that the API accepts. */
  | 'cut-description';

/** The constraints of APIs whose violations `check` and `checkTools` report. */
export type Constraint =
  /** A keyword that has no effect. */
  | 'ignored-keyword'
  /** The root is not a schema. */
  | 'root-not-schema'
  /** The root must have `type: "object"`. */
  | 'root-object'
  /** `type` is neither a known name nor a list of them. */
  | 'unknown-type'
  /** A keyword that is not allowed next to a list of several types. */
  | 'beside-type-list'
  /** A keyword next to a type that it does not apply to. */
  | 'beside-other-type'
  /** `type` next to `anyOf`: it belongs in the branches. */
  | 'type-beside-any-of'
  /** `type` next to `$ref`: it belongs in the definition. */
  | 'type-beside-ref'
  /** `enum` is not a list. */
  | 'enum-not-list'
  /** `enum` has no values. */
  | 'enum-empty'
  /** `enum` has too many values. */
  | 'enum-too-long'
  /** `enum` without a `type`. */
  | 'enum-without-type'
  /** A list of types next to `enum` that is not `null` and one scalar type. */
  | 'enum-type-list'
  /** A value of `enum` that does not match the type. */
  | 'enum-value'
  /** `null` after a numeric type, next to an `enum` that contains null. */
  | 'enum-null-first'
  /** `properties` is not an object. */
  | 'properties-not-object'
  /** A value that is not a schema where one is expected: a property, a definition, a branch. */
  | 'not-a-schema'
  /** `items` is a list of schemas, one for each position. */
  | 'array-items'
  /** `items` is not a schema. */
  | 'items-not-schema'
  /** `additionalProperties` is neither a boolean nor a schema. */
  | 'additional-properties-not-schema'
  /** `required` is not a list of strings. */
  | 'required-not-strings'
  /** `required` names a property that the same schema does not have. */
  | 'required-unknown'
  /** `required` without `properties`. */
  | 'required-without-properties'
  /** A property's name is mistaken for a keyword. */
  | 'reserved-name'
  /** A keyword below a name whose `{` and `}` the API reads as an index. */
  | 'braces-in-name'
  /** `anyOf` is not a list. */
  | 'combinator-not-list'
  /** `anyOf` has no branch, or too many. */
  | 'any-of-size'
  /** A branch of `anyOf` without its own `type`, because it is itself a union. */
  | 'untyped-branch'
  /** A keyword both next to `anyOf` and in a branch. */
  | 'any-of-shared'
  /** A keyword's value must be a string. */
  | 'not-a-string'
  /** `$defs` is not an object. */
  | 'defs-not-object'
  /** A definition's name is empty or contains `/`. */
  | 'definition-name'
  /** A key inside a definition contains `/`. */
  | 'slash-in-definition'
  /** `$ref` is not a string. */
  | 'ref-not-string'
  /** `$ref` is written in a form that is not understood. */
  | 'ref-form'
  /** `$ref` points at nothing, or at something that is not a schema. */
  | 'ref-target'
  /** A reference where none is allowed. */
  | 'ref-place'
  /** A keyword both next to `$ref` and in its target. */
  | 'ref-shared'
  /** `anyOf` next to a `$ref` whose target has a type, or vice versa. */
  | 'ref-any-of'
  /** Recursion that cannot end. */
  | 'endless-recursion'
  /** A schema that applies to itself at the same value, through references and unions. */
  | 'left-recursion'
  /** A keyword that is not allowed at the root. */
  | 'root-keyword'
  /** `$schema` names a draft that is not accepted. */
  | 'unknown-draft'
  /** A keyword that is not allowed anywhere. */
  | 'refused-keyword'
  /** A key that is not a keyword, where only keywords are allowed. */
  | 'unknown-keyword'
  /** A keyword's value does not match the meta-schema. */
  | 'keyword-value'
  /** A keyword's number is above what is accepted. */
  | 'keyword-too-large'
  /** A maximum that is below its minimum. */
  | 'maximum-below-minimum'
  /** A list of types where a single type is required, or with types that are not allowed in a list. */
  | 'type-list'
  /** A schema without a type, although one is required. */
  | 'untyped'
  /** A value of `enum` whose kind or content is not allowed. */
  | 'enum-kind'
  /** `enum` next to a type that none of its values has. */
  | 'enum-contradicts'
  /** An object without `properties`, although they are required. */
  | 'object-without-properties'
  /** An object that must have `additionalProperties: false`. */
  | 'object-not-closed'
  /** An object that must declare `additionalProperties`. */
  | 'object-openness'
  /** `additionalProperties` with a schema, although only a boolean is allowed. */
  | 'map'
  /** A property that is not in `required`, although all must be. */
  | 'not-required'
  /** An array without `items`. */
  | 'array-without-items'
  /** An array with `prefixItems` that must declare whether more items are allowed. */
  | 'array-openness'
  /** `items` without a specific schema. */
  | 'open-items'
  /** A regular expression that the API cannot compile. */
  | 'pattern'
  /** A `pattern` that is accepted but not enforced. */
  | 'pattern-not-enforced'
  /** A regular expression whose anchors or lookaround mean something different in this API than in JSON Schema. */
  | 'pattern-anchors'
  /** A `format` that is refused. */
  | 'format'
  /** A keyword that is not allowed next to `$ref`. */
  | 'beside-ref'
  /** A keyword that is not allowed next to `anyOf`. */
  | 'beside-any-of'
  /** Two branches of `anyOf` are objects whose first property has the same name. */
  | 'any-of-first-keys'
  /** A property's name has a form that is not allowed. */
  | 'property-name'
  /** Recursion where it is not allowed. */
  | 'recursion'
  /** A number beyond the range of a 64-bit float. */
  | 'number-range'
  /** The schema is too large. */
  | 'too-many-bytes'
  /** `properties` are nested too deeply. */
  | 'too-deep'
  /** Too many values in total in the `enum`s of the root or a definition. */
  | 'too-many-enum-values'
  /** Too many characters of names, values and constants in the root or a definition. */
  | 'too-many-characters'
  /** Too many properties in total. */
  | 'too-many-properties'
  /** The root accepts nothing. */
  | 'root-null'
  /** `minItems` is not a non-negative integer. */
  | 'min-items-not-count'
  /** `encrypted` is not a boolean. */
  | 'encrypted-not-boolean'
  /** An entry of a list that is not a tool. */
  | 'not-a-tool'
  /** A tool without a name. */
  | 'nameless-tool'
  /** Two tools with the same name. */
  | 'duplicate-name'
  /** A name that the API refuses. */
  | 'tool-name'
  /** A name that is too long for a client of MCP, which puts the name of the server in front of it. */
  | 'qualified-name'
  /** `x-mcp-header` at a location or with a value that MCP does not allow. */
  | 'mcp-header'
  /** `strict` is missing, or the API does not know it. */
  | 'strict-flag'
  /** A tool without arguments that has a schema, although the API requires that it has none. */
  | 'no-arguments'
  /** A description that is not a string. */
  | 'description-not-string'
  /** A description that is too long. */
  | 'description-length'
  /** An empty description, although the API accepts only a missing or non-empty one. */
  | 'empty-description'
  /** More tools than a request may have. */
  | 'too-many-tools'
  /** Two tools of a request have different definitions with the same name. */
  | 'definition-conflict'
  /** Tools of a request that no single compiler supports together. */
  | 'mixed-backends'
  /** More strict tools than a request may have. */
  | 'too-many-strict-tools'
  /** A strict tool that is too complex for the compiler. */
  | 'too-complex'
  /** More optional properties than the strict tools of a request may have. */
  | 'too-many-optional-properties'
  /** More properties than the strict tools of a request may have. */
  | 'too-many-strict-properties'
  /** More properties with several types than the strict tools of a request may have. */
  | 'too-many-unions';

/** The constraints of APIs whose violations `checkRequest` reports. */
export type RequestConstraint =
  /** A tool choice that forces a call while the model thinks. */
  | 'choice-while-thinking'
  /** `tool_choice` or `parallel_tool_calls` in a request without tools. */
  | 'choice-without-tools'
  /** A tool choice that names a tool that the request does not have. */
  | 'choice-of-absent-tool'
  /** A tool choice that the model does not accept. */
  | 'choice-by-model'
  /** Tools, for a model that does not accept them. */
  | 'model-without-tools'
  /** A function without a schema, for a model that needs one. */
  | 'no-parameters'
  /** A tool of a kind that the API does not have. */
  | 'tool-kind'
  /** Arguments of a call in the history that are not a JSON object. */
  | 'history-arguments'
  /** A call in the history without a result, or a result without a call: `adaptRequest` completes the pairs, unless `historyPairs` is `"keep"`. */
  | 'history-pairs'
  /** A name that the API does not accept, in a call of the history. */
  | 'history-name'
  /** A namespace of tools, for an API that has no namespaces. */
  | 'namespace'
  /** A namespace without tools: `adaptRequest` omits it, and no API is known to refuse it. */
  | 'empty-namespace'
  /** A member of the request, of a message or its parts, or of a tool that the API or the model does not accept. */
  | 'unsupported-member'
  /** The id of a call that the API does not accept, or that an earlier call has. */
  | 'call-id'
  /** The id of an item that does not begin with the prefix of its type. */
  | 'item-id'
  /** A beta in the header `anthropic-beta` or in the body that the API does not know. */
  | 'unsupported-beta'
  /** A member of the request that the API accepts only with a beta, which the request does not name. */
  | 'missing-beta'
  /** A member that the API expects. */
  | 'missing-member'
  /** A value of a member that the model does not accept. */
  | 'unsupported-value'
  /** A role of messages that the API does not have. */
  | 'message-role'
  /** An empty list, for an API that accepts none. */
  | 'empty-list'
  /** Text without characters, or a message of nothing but white space. */
  | 'empty-text'
  /** Parts of a message in an order that the API does not accept. */
  | 'block-order'
  /** A search of the server in the history, without its result. */
  | 'search-result'
  /** Messages in an order that the API does not accept. */
  | 'turn-order'
  /** Calls in the history of a request without tools. */
  | 'calls-without-tools'
  /** A call in the history without its signature. */
  | 'call-signature'
  /** The result of a call that is not an object. */
  | 'result-not-object'
  /** A choice of tools of a kind that the API does not have. */
  | 'choice-kind'
  /** Functions together with a tool that the API runs, for an API that does not combine them. */
  | 'functions-beside-hosted'
  /** The system prompt, tools or their configuration together with a cached prompt. */
  | 'cached-content'
  /** A response format with a schema, for an API that does not accept one in requests of this format. */
  | 'format-refused'
  /** A response format, for a model that does not accept one. */
  | 'format-by-model'
  /** A response format together with tools, or with a tool that the API does not combine with it. */
  | 'format-beside-tools'
  /** A response format together with a prefilled answer in the last message. */
  | 'format-beside-prefill'
  /** A prefilled answer in the last message, for a model that does not accept one. */
  | 'prefill-by-model'
  /** JSON mode in a request whose messages do not contain the word JSON. */
  | 'format-without-word'
  /** Two consecutive updates of the configuration. */
  | 'format-updates'
  /** A response format without a name, or with one that the API does not accept. */
  | 'format-name'
  /** A schema of a response format that the API refuses or reads differently than written. */
  | 'format-schema';

/** The warnings about requests with deferred tools. */
export type DeferredWarningCode =
  /** Two tools have the same name: one definition is sent. */
  | 'duplicate-tool-name'
  /** An addition in the history defines a tool differently than the request: the newest definition is used. */
  | 'redefined-tool'
  /** An addition or removal does not come from the client, or `toolChanges` ignores it. */
  | 'tool-change-ignored'
  /** A tool has the name of the search function, which was renamed to this `name`. */
  | 'tool-search-renamed'
  /** The history refers to a tool that is not in the request. */
  | 'unknown-tool-reference'
  /** The history contains the result of a tool search without its call. */
  | 'orphan-tool-search-output'
  /** The hosted tool search was removed, and every deferred tool is loaded. */
  | 'server-tool-search-unavailable'
  /** The hosted tool search was removed, as `serverToolSearch` requests: the model finds no deferred tool. */
  | 'server-tool-search-dropped'
  /** A toolset of the MCP connector is deferred; only the provider knows its tools. */
  | 'mcp-toolset-defer-ignored'
  /** `defer_loading` is neither true nor false. */
  | 'defer-loading-not-boolean'
  /** `tool_choice` forces a tool that was not loaded. */
  | 'forced-deferred-tool'
  /** A part of earlier requests is now written differently: a prompt cache ends there. */
  | 'prefix-changed'
  /** A synthesized search replaces an addition, which the backend does not support. */
  | 'synthesized-exchange'
  /** None of the tools that `tool_choice` allows is sent: the model now decides. */
  | 'choice-emptied'
  /** `tool_choice` names a tool, but the backend accepts no name: it now requires any tool. */
  | 'forced-choice-widened'
  /** A part was moved: APIs accept only text in results, and results only directly after calls. The model's parts go before the calls, all others after the results. System text and tool changes after a model turn go after the next user content. */
  | 'moved'
  /** A call's arguments are not a JSON object, which the target requires: an empty object is sent. */
  | 'arguments-not-an-object'
  /** The target requires a maximum number of tokens, which the request lacks: `maxTokens` is sent. */
  | 'max-tokens-defaulted'
  /** A call's id has characters that the target refuses: it and its result get a new one. */
  | 'call-id-changed'
  /** Every tool is deferred, which the API refuses: this one is sent without the flag. */
  | 'all-deferred'
  /** The API refuses a cache breakpoint at a deferred tool: it was moved to another tool. */
  | 'cached-deferred'
  /** The API refuses deferred tools without a search: the API's own search was added. */
  | 'tool-search-added'
  /** The request has more tools than the API accepts: those past the maximum are deferred. */
  | 'overflow-deferred'
  /** The prompt already lists deferred tools, but not those that are deferred because of the maximum. */
  | 'overflow-unannounced'
  /** A part of the request has no counterpart in the target format and was removed. */
  | 'not-translated';

/** The rules by which `repairArguments` repairs. */
export type RepairRule =
  /** A byte order mark or a no-break space between tokens is ignored. */
  | 'byte-order-mark'
  /** The Markdown fence around JSON is ignored. */
  | 'fence'
  /** The words around a single JSON value are ignored. */
  | 'surrounding-text'
  /** A comma before the first or after the last member is ignored. */
  | 'extra-comma'
  /** A comment is ignored. */
  | 'comment'
  /** A raw line break, tab or other control character inside a string is that character. */
  | 'control-character'
  /** `'text'` is a string. */
  | 'single-quotes'
  /** `\'` in a string is an apostrophe. */
  | 'escaped-apostrophe'
  /** `“text”` is a string. */
  | 'smart-quotes'
  /** A bare word before a colon is a name. */
  | 'unquoted-key'
  /** A name lacks one of its quotation marks; the schema declares it. */
  | 'missing-quote'
  /** The colon between a name and its value is missing; the schema declares the name. */
  | 'missing-colon'
  /** A bare word is a string, and `+3` a number, where the schema expects nothing else. */
  | 'unquoted-string'
  /** A model's token for quotation marks, such as `<|"|>`, is a quotation mark. */
  | 'quote-token'
  /** `{{` and `}}` are single braces. */
  | 'doubled-braces'
  /** `True`, `False` and `None` are `true`, `false` and `null`. */
  | 'python-literal'
  /** `undefined` is `null`. */
  | 'undefined'
  /** A comma is missing between two members, or between items on separate lines. */
  | 'missing-comma'
  /** There are too many closing brackets after the value. */
  | 'extra-bracket'
  /** In the last run of closing brackets, one is missing or of the wrong kind. */
  | 'misnested-bracket'
  /** Closing brackets are missing at the end; only with `truncated: "close"`. */
  | 'missing-bracket'
  /** A backslash that does not begin an escape is a literal backslash. */
  | 'invalid-escape'
  /** The whole text was escaped once too often. */
  | 'escaped-text'
  /** The same value occurs more than once. */
  | 'repeated-value'
  /** An empty value precedes or follows the real one. */
  | 'empty-value'
  /** Blank text, `null` and `None` are equivalent to missing arguments. */
  | 'empty-arguments'
  /** The arguments are wrapped in another object, as `arguments`, `input` or the like. */
  | 'unwrap-arguments'
  /** A name in another spelling refers to the declared property. */
  | 'property-name'
  /** A string contains the JSON text of the expected array or object. */
  | 'json-string'
  /** A string contains a number. */
  | 'string-to-number'
  /** A string contains `true` or `false`. */
  | 'string-to-boolean'
  /** A string contains `null`. */
  | 'string-to-null'
  /** A blank string where null is allowed. */
  | 'empty-to-null'
  /** 0 or 1 where a boolean is expected. */
  | 'number-to-boolean'
  /** A number where a string is expected; its spelling is kept. */
  | 'number-to-string'
  /** A boolean where a string is expected. */
  | 'boolean-to-string'
  /** A value of an `enum` or `const` in another spelling. */
  | 'enum-spelling'
  /** A single value where an array is expected. */
  | 'wrap-array'
  /** An array of one item where the item is expected. */
  | 'unwrap-array'
  /** `{"item": …}` around an array or an item. */
  | 'item-wrapper'
  /** Null for an optional member that does not allow null. */
  | 'omit-null'
  /** A blank string for an optional member that refuses it. */
  | 'omit-empty'
  /** A word for null for an optional member that does not accept strings. */
  | 'omit-null-string'
  /** The schema's default for a missing required member; only with `useDefaults`. */
  | 'use-default'
  /** An undeclared member of a closed object is removed; only with `removeAdditional`. */
  | 'remove-additional';

/** The reasons why `repairArguments` leaves something unchanged. */
export type LeftReason =
  /** No rule applies. */
  | 'no-rule'
  /** Several interpretations are valid. */
  | 'ambiguous'
  /** The number is too large for many programs to read exactly. */
  | 'inexact'
  /** A rule applies, but only with confidence `likely`. */
  | 'not-exact'
  /** A rule applies, but is disabled. */
  | 'switched-off'
  /** The text is truncated. */
  | 'truncated'
  /** The text contains several different values. */
  | 'several-values'
  /** The text contains no JSON. */
  | 'no-json'
  /** The text has backslashes that can be read as escapes or literally. */
  | 'ambiguous-escape'
  /** A name occurs twice, with different values. */
  | 'duplicate-name'
  /** The text is nested deeper than can be read. */
  | 'too-deep'
  /** The text is not JSON, and no rule can repair it. */
  | 'syntax';

/** The rules by which `fitResult` changes results. */
export type ResultRule =
  /** Missing structured content is the JSON in the only text, which matches the `outputSchema`. */
  | 'fill-content'
  /** The structured content is added as text. */
  | 'add-text'
  /** Structured content of an error is removed, because it does not match the `outputSchema` or is null. */
  | 'drop-error-content'
  /** Structured content is removed: it does not match (`mismatch: "drop"`) or is null without `outputSchema`. */
  | 'drop-content'
  /** An error takes the place of the result; only with `mismatch: "refuse"`. */
  | 'refuse-result';

/** The changes that `restore` makes to a reply, except to the values of its answer. */
export type AnswerChange =
  /** Text next to structured output that came as a call was removed. */
  | 'drop-text'
  /** Further calls to the function after the one with the structured output were removed. */
  | 'drop-call'
  /** The structured output was extracted from a Markdown fence. */
  | 'remove-fence'
  /** A call of a stream got the index that tells it apart from other calls. */
  | 'number-call'
  /** A call of a stream got an id. */
  | 'add-call-id'
  /** Names, ids and arguments of a call that a stream repeated were removed. */
  | 'drop-repeated'
  /** Arguments that were a value, or missing, became the JSON text that the API promises. */
  | 'text-arguments';
