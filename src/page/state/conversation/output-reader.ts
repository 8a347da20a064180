import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { Timers } from '../../../../protocol/client/timers.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Result } from '../../../../protocol/index.ts';
import { toPlainText } from '../text/ansi.ts';

/** Bytes per page. */
export const PAGE_BYTES = 64 * 1024;
/** Bytes per request when all of it is read. */
const STEP_BYTES = 128 * 1024;

export type OutputPage = Pick<Result<'output.read'>, 'text' | 'offset' | 'totalBytes'>;

/** Whose output it is: a tool call's that has ended, or a background command's. */
export type OutputOf = { callId: string } | { commandId: string };

/** Reads a stored output in parts. All methods reject once the output has expired. */
export interface OutputReader {
  /** A page, from 0. */
  read(page: number): Promise<OutputPage>;
  /** The first page from `from` on that contains the words, ignoring case; undefined if none does. */
  findPage(words: string, from: number): Promise<number | undefined>;
  /** The full output, unchanged. */
  readAll(): Promise<string[]>;
}

interface OutputReaderDeps {
  client: Pick<GatewayClient, 'call'>;
  wsId: string;
  of: OutputOf;
  timers: Pick<Timers, 'after'>;
}

export function createOutputReader({ client, wsId, of, timers }: OutputReaderDeps): OutputReader {
  const readAt = async (offset: number, limit: number): Promise<OutputPage> => {
    try {
      if ('callId' in of) return await client.call('output.read', { wsId, callId: of.callId, offset, limit });
      return await client.call('background.output', { wsId, commandId: of.commandId, offset, limit });
    } catch (error) {
      const waitMs = error instanceof RequestError ? error.retryAfterMs : undefined;
      if (waitMs === undefined) throw error;
      // A search of 64 MB exceeds the rate limit of a connection.
      await new Promise<void>((resolve) => timers.after(waitMs, resolve));
      return readAt(offset, limit);
    }
  };
  return {
    read: (page) => readAt(page * PAGE_BYTES, PAGE_BYTES),
    async findPage(words, from) {
      const wanted = words.toLowerCase();
      for (let page = from, total = Number.POSITIVE_INFINITY; page * PAGE_BYTES < total; page += 1) {
        const { text, totalBytes } = await readAt(page * PAGE_BYTES, PAGE_BYTES);
        if (toPlainText(text).toLowerCase().includes(wanted)) return page;
        total = totalBytes;
      }
      return undefined;
    },
    async readAll() {
      const parts: string[] = [];
      for (let offset = 0, total = Number.POSITIVE_INFINITY; offset < total; offset += STEP_BYTES) {
        const { text, totalBytes } = await readAt(offset, STEP_BYTES);
        parts.push(text);
        total = totalBytes;
      }
      return parts;
    },
  };
}
