import type { Message } from '../../../src/agent/message.ts';
import type { ModelPart, ModelRequest } from '../../../src/agent/providers/model.ts';
import { createModels } from '../../../src/agent/providers/models.ts';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { createGuardedEgress } from '../../../src/egress/guarded-egress.ts';
import type { ScriptedModel } from './scripted-model.ts';

/** The network as the daemon uses it. */
export const egress = createGuardedEgress({ privateHosts: () => [], environment: {} });

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A clock that does not sleep but records the requested times. */
export function impatientClock(): Clock & { slept: number[] } {
  const slept: number[] = [];
  return {
    ...systemClock,
    slept,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      if (ms >= 5_000) return systemClock.sleep(ms, signal);
      slept.push(ms);
    },
  };
}

/** The product's model client, connected to a scripted server. */
export async function modelOf(upstream: ScriptedModel, { clock = impatientClock() as Clock, key = '' } = {}) {
  const models = createModels({
    ...egress,
    config: {},
    environment: { OPENAI_BASE_URL: upstream.url, ...(key && { OPENAI_API_KEY: key }) },
    clock,
    log,
    random: () => 0.5,
  });
  await models.start();
  return { models, model: await models.resolve() };
}

/** A request with all required fields. */
export function request(
  messages: Message[] = [{ role: 'user', content: 'hi' }],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return { system: 'Be brief.', messages, tools: [], effort: 'medium', typedByPerson: true, ...more };
}

/** All parts of an answer. Neighbouring texts are joined, because the network decides how many arrive together. */
export async function read(parts: AsyncIterable<ModelPart>): Promise<ModelPart[]> {
  const all: ModelPart[] = [];
  for await (const part of parts) {
    const last = all.at(-1);
    if ('text' in part && last && 'text' in last && last.type === part.type) last.text += part.text;
    else all.push(part);
  }
  return all;
}

/** A signal that never aborts. */
export const live = () => new AbortController().signal;
