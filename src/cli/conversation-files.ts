import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { endpoints } from '../../protocol/client/endpoint-addresses.ts';
import { createHttpClient } from '../../protocol/client/http-client.ts';
import type { conversationEndpoints } from '../../protocol/http/conversation.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { ConversationFile } from '../../protocol/methods/conversation/conversation-file.ts';
import { check, problemsOf } from '../../protocol/parse.ts';
import { hasCode } from '../home/private-file.ts';
import { whyUnreadable } from '../home/why-unreadable.ts';
import { UsageError } from '../start-error.ts';
import type { Target } from './connect.ts';
import { readInput } from './input/read-input.ts';
import { toSafeText } from './terminal/safe-text.ts';

/** Enough for a long conversation with images over a slow connection. */
const TRANSFER_MS = 600_000;

export type ExportFormat = 'json' | 'markdown';

type ImportRequest = z.input<ReturnType<typeof conversationEndpoints.import.request>>;
export type ImportAnswer = z.output<ReturnType<typeof conversationEndpoints.import.reply>>;

/** Exports conversations from a daemon, and imports them. */
export interface ConversationFiles {
  download(wsId: string, format: ExportFormat): Promise<Uint8Array>;
  upload(conversation: ImportRequest, key: string): Promise<ImportAnswer>;
}

export function createConversationFiles({ url, token }: Target): ConversationFiles {
  const http = createHttpClient({ baseUrl: new URL('/', url.replace(/^ws/, 'http')).href, token });
  return {
    async download(ws_id, format) {
      const blob = await http.download(endpoints.conversation.export, { ws_id, format }, { timeoutMs: TRANSFER_MS });
      return new Uint8Array(await blob.arrayBuffer());
    },
    upload: (conversation, idempotencyKey) =>
      http.call(endpoints.conversation.import, conversation, { timeoutMs: TRANSFER_MS, idempotencyKey }),
  };
}

/** Reads an exported conversation from a file, or from stdin for `-`. Throws UsageError if it is none. */
export async function readConversation(name: string, { cwd }: { cwd: string }): Promise<ConversationFile> {
  const content = await readInput(name, { cwd, maxBytes: LIMITS.conversationFileBytes });
  const parsed = check(ConversationFile, parseJson(content, name));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${name} is not an exported conversation: ${problemsOf(parsed.error)}`);
}

/** What a person should know about an imported conversation; the first line has its new workstream. */
export function toImportLines({ ws_id, name, message_count: count, ...rest }: ImportAnswer): string[] {
  const messages = count === 1 ? '1 message' : `${count} messages`;
  return [
    `Imported ${messages} as ${toSafeText(name)}. Continue with: headgate chat --ws ${ws_id}`,
    ...toWarnings(rest).map(toSafeText),
  ];
}

const toWarnings = ({
  unknown_model,
  missing_files = [],
}: Pick<ImportAnswer, 'unknown_model' | 'missing_files'>): string[] => [
  ...(unknown_model === undefined ? [] : [`Unknown model "${unknown_model}": the default model is used.`]),
  ...(missing_files.length === 0 ? [] : [`Files without content: ${missing_files.join(', ')}`]),
];

function parseJson(content: string, name: string): unknown {
  try {
    return JSON.parse(content);
  } catch (cause) {
    throw new UsageError(`${name} is not JSON. Use a file that headgate export wrote without --markdown.`, { cause });
  }
}

/** Writes a new file. Throws UsageError if it exists; if it cannot be written to its end, nothing of it stays. */
export async function writeNewFile(name: string, bytes: Uint8Array, { cwd }: { cwd: string }): Promise<void> {
  const file = path.resolve(cwd, name);
  try {
    await using handle = await open(file, 'wx', 0o600);
    await handle
      .writeFile(bytes)
      .catch((error: unknown) => rm(file, { force: true }).then(() => Promise.reject(error)));
  } catch (cause) {
    const why = hasCode(cause, 'EEXIST') ? 'it exists already' : whyUnreadable(cause);
    throw new UsageError(`${name} cannot be written: ${why}`, { cause });
  }
}
