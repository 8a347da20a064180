import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { Timers } from '../../../../protocol/client/timers.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Result } from '../../../../protocol/index.ts';
import { toPlainText } from '../text/ansi.ts';

/** What is shown at once. */
export const PAGE_BYTES = 64 * 1024;
/** What is asked for at once when all of it is wanted. */
const STEP_BYTES = 128 * 1024;

export type OutputPage = Result<'output.read'>;

/** One tool's output as the daemon keeps it, read piece by piece. Everything rejects when it is kept no longer. */
export interface OutputReader {
  /** A page, from 0. */
  read(page: number): Promise<OutputPage>;
  /** The first page from `from` on that holds the words, in capitals or not; undefined when none does. */
  findPage(words: string, from: number): Promise<number | undefined>;
  /** All of it, as it was printed. */
  readAll(): Promise<string[]>;
}

interface OutputReaderParts {
  client: Pick<GatewayClient, 'call'>;
  wsId: string;
  callId: string;
  timers: Pick<Timers, 'after'>;
}

export function createOutputReader({ client, wsId, callId, timers }: OutputReaderParts): OutputReader {
  const readAt = async (offset: number, limit: number): Promise<OutputPage> => {
    try {
      return await client.call('output.read', { wsId, callId, offset, limit });
    } catch (error) {
      const waitMs = error instanceof RequestError ? error.retryAfterMs : undefined;
      if (waitMs === undefined) throw error;
      // Whoever searches 64 MB asks faster than a connection may.
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
