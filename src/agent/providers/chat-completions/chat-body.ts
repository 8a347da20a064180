import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isRecord } from '../../../../protocol/is-record.ts';

interface ChatBodyDeps {
  toBody: ToBody;
  /** Like `JSON.stringify`. */
  stringify(value: unknown): string;
}

/** Builds the body of a request without its stream options, as an object. */
export type ToBody = (options: LanguageModelV4CallOptions) => Promise<Record<string, unknown>>;

export interface ChatBodies {
  /**
   * The body of a request, in UTF-8. `conversation`: an object that lives as long as the conversation, by which its next
   * request is recognized.
   */
  build(options: LanguageModelV4CallOptions, conversation?: object): Promise<Uint8Array<ArrayBuffer>>;
}

/** The beginning of a request. The next one most likely begins with it. */
interface Beginning {
  prompt: LanguageModelV4Prompt;
  /** Its messages as JSON, without brackets. */
  json: Buffer;
}

const NOTHING: Beginning = { prompt: [], json: Buffer.alloc(0) };

/**
 * A request repeats what the last one of its conversation sent, so only the rest of it is converted and encoded. Over
 * 5,000 messages, that is most of the work of a turn.
 */
export function createChatBodies({ toBody, stringify }: ChatBodyDeps): ChatBodies {
  /** A list as JSON, without brackets. */
  const toJson = (list: unknown): Buffer => Buffer.from(stringify(list).slice(1, -1));
  const beginnings = new WeakMap<object, Beginning>();
  return {
    async build({ prompt, ...settings }, conversation) {
      const latest = (conversation && beginnings.get(conversation)) ?? NOTHING;
      const known = isSame(latest.prompt, prompt.slice(0, latest.prompt.length)) ? latest : NOTHING;
      // The last message can still grow, so the next request need not begin with it.
      const steady = Math.max(known.prompt.length, prompt.length - 1);
      const { messages: added } = await toBody({ prompt: prompt.slice(known.prompt.length, steady) });
      const { messages: last, ...rest } = await toBody({ ...settings, prompt: prompt.slice(steady) });
      const head = stringify({ ...rest, stream: true, stream_options: { include_usage: true } });
      const before = Buffer.from(`${head.slice(0, -1)},"messages":[`);
      const beginning = [known.json, toJson(added)];
      const body = Buffer.concat([before, ...listed([...beginning, toJson(last)]), Buffer.from(']}')]);
      const json = body.subarray(before.length, before.length + bytesOf(listed(beginning)));
      if (conversation) beginnings.set(conversation, { prompt: prompt.slice(0, steady), json });
      return body;
    },
  };
}

/** With commas in between; empty ones are left out. */
const listed = (lists: readonly Buffer[]): Buffer[] =>
  lists.filter((list) => list.length > 0).flatMap((list, index) => (index > 0 ? [COMMA, list] : [list]));

const COMMA = Buffer.from(',');

const bytesOf = (lists: readonly Buffer[]): number => lists.reduce((bytes, { length }) => bytes + length, 0);

/** Whether two values are the same as JSON or bytes. Almost all texts in them are the same strings, which is seen at once. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (Array.isArray(a)) return Array.isArray(b) && isSameList(a, b);
  return isRecord(a) && isRecord(b) && isSameRecord(a, b);
}

const isSameList = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, index) => isSame(item, b[index]));

function isSameRecord(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  for (const key in a) if (!isSame(a[key], b[key])) return false;
  for (const key in b) if (!(key in a)) return false;
  return true;
}
