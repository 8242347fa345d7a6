/**
 * Input processor for Mastra's agents, version 1. It sends tools in a dialect, and restores the tools' own names and
 * arguments in calls, whole and streamed.
 *
 * @packageDocumentation
 */

import { Adapter, type FrameworkOptions } from './framework.js';
import { ToolwireError } from './index.js';
import { ModelCalls, type Params } from './language-model.js';

export type { FrameworkOptions, SentTool, SentTools } from './framework.js';

/** An input processor for Mastra's agents. */
export interface ToolwireProcessor {
  readonly id: 'toolwire';
  /** Returns a step's model with adapted calls, and its tools, which refuse calls that could not be repaired. */
  processInputStep<M extends object>(step: {
    model: M;
    tools?: Record<string, unknown>;
  }): {
    model: M;
    tools?: Record<string, unknown>;
  };
}

/**
 * Returns an input processor that sends an agent's tools in a dialect and restores their calls. With `repair`, a call
 * that could not be repaired does not run: it fails with the `retryMessage`, which tells the model what was expected.
 *
 * @example
 * ```ts
 * const inputProcessors = [toolwireProcessor({ dialect: 'moonshot', repair: true })];
 * const agent = new Agent({ id: 'files', name: 'files', instructions, model, tools, inputProcessors });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`; `invalid-option` on a step in a Mastra before 1.
 */
export function toolwireProcessor(options: FrameworkOptions): ToolwireProcessor {
  const calls = new ModelCalls(new Adapter(options));
  const adaptedModels = new WeakSet<object>();
  return {
    id: 'toolwire',
    processInputStep({ model, tools }) {
      const sent = adaptedModels.has(model) ? model : adaptModel(model, calls);
      adaptedModels.add(sent);
      return tools === undefined ? { model: sent } : { model: sent, tools: calls.guard(tools) };
    },
  };
}

/** The members that this module reads of Mastra's models. Parameters and parts are those of the AI SDK 5 and later. */
interface MastraModel {
  specificationVersion: string;
  modelId: string;
  doGenerate(params: Params): Promise<StreamResult>;
  doStream(params: Params): Promise<StreamResult>;
}
type StreamResult = Parameters<ModelCalls['restoreStream']>[0];

/** Returns the model with adapted calls. The result is still an instance of the model's class, which Mastra checks. */
function adaptModel<M extends object>(model: M, calls: ModelCalls): M {
  const { specificationVersion: version } = model as MastraModel;
  if (!['v2', 'v3', 'v4'].includes(version)) {
    const message = `expected Mastra 1 (models of the specifications v2 to v4), found ${version}: run \`npm install @mastra/core@1\``;
    throw new ToolwireError('invalid-option', '', message);
  }
  // The target is not the model itself, because a proxy of a frozen target must return its values.
  return new Proxy(Object.create(model) as M, {
    set: (_, property, value) => Reflect.set(model, property, value),
    ownKeys: () => Reflect.ownKeys(model),
    getOwnPropertyDescriptor(_, property) {
      const descriptor = Reflect.getOwnPropertyDescriptor(model, property);
      return descriptor && { ...descriptor, configurable: true };
    },
    get(_, property) {
      const value: unknown = Reflect.get(model, property, model);
      // Methods are bound to the model, because Mastra's models have private members.
      if (property !== 'doGenerate' && property !== 'doStream')
        return typeof value === 'function' && property !== 'constructor' ? value.bind(model) : value;
      return async (params: Params) => {
        const mastraModel = model as MastraModel;
        const sent = calls.adapt(params, mastraModel.modelId);
        // In Mastra, `doGenerate` also returns a stream.
        return calls.restoreStream(await mastraModel[property](sent), sent);
      };
    },
  });
}
