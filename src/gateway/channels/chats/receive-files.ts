import { GatewayError } from '../../../../protocol/errors.ts';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { Attachment } from '../../../../protocol/stream-events.ts';
import type { Heard, Speech } from '../../../agent/speech/speech.ts';
import { safeFileName } from '../../../content/file-kind.ts';
import type { Attachments } from '../../attachments/attachments.ts';
import type { Claim } from '../../attachments/claim.ts';
import type { OpenedFile } from '../calls/opened-file.ts';
import { ServiceError } from '../calls/service-error.ts';
import type { ChatFile, ChatMessage } from './chat-message.ts';
import type { FileWords } from './message-text.ts';

export interface FileDeps {
  /** Downloads a file of the service. Throws ServiceError. */
  openFile(file: ChatFile, limits: { maxBytes: number; signal: AbortSignal }): Promise<OpenedFile>;
  attachments: Pick<Attachments, 'staged'>;
  /** Turns speech into text. */
  hear(speech: Speech): Promise<Heard>;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** The files of a message, loaded, with what the model and the person have to know; or why the message is not taken. */
export type ReceivedFiles =
  | ({ kind: 'received'; claim: Claim | undefined; warnings: readonly string[] } & FileWords)
  | { kind: 'refused'; why: string };

type Words = Record<'spoken' | 'notes' | 'warnings', string[]>;

const NONE: ReceivedFiles = { kind: 'received', claim: undefined, spoken: [], notes: [], warnings: [] };

/**
 * Loads the files of a message. They belong to nothing until the claim is committed together with the message, so that
 * this can be repeated after a crash: the next sweep removes what it left. Throws ServiceError where trying again may help.
 */
export async function receiveFiles(
  { files, unreadable }: Pick<ChatMessage, 'files' | 'unreadable'>,
  owner: { wsId: string; principal: string },
  deps: FileDeps,
): Promise<ReceivedFiles> {
  if (unreadable !== undefined) return { kind: 'refused', why: `I cannot read ${unreadable}.` };
  if (files.length === 0) return NONE;
  if (files.length > LIMITS.attachmentsPerMessage)
    return { kind: 'refused', why: `I take at most ${LIMITS.attachmentsPerMessage} files with a message.` };
  const ids: string[] = [];
  const words: Words = { spoken: [], notes: [], warnings: [] };
  let received: ReceivedFiles | undefined;
  try {
    for (const file of files) {
      const attachment = await load(file, owner.principal, deps);
      ids.push(attachment.attachment_id);
      if (file.kind === 'speech') addHeard(await hearIn(file, attachment, deps), { file, attachment, words });
    }
    received = { kind: 'received', claim: deps.attachments.staged.claim(owner, ids), ...words };
    return received;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { kind: 'refused', why: error.message };
  } finally {
    if (!received) await deps.attachments.staged.release(ids);
  }
}

/** The file cannot be read, and trying again does not help. */
class Unreadable extends Error {}

async function load(
  file: ChatFile,
  principal: string,
  { openFile, attachments, stopping: signal }: FileDeps,
): Promise<Attachment> {
  const maxBytes = LIMITS.attachmentBytes;
  if ((file.size ?? 0) > maxBytes) throw new Unreadable(tooLarge(file));
  try {
    const { bytes } = await openFile(file, { maxBytes, signal });
    return await attachments.staged.stage(principal, { fileName: file.fileName, bytes });
  } catch (error) {
    throw unreadableOf(error, file) ?? error;
  }
}

/** What was said in a recording that is stored. */
const hearIn = ({ fileName }: ChatFile, attachment: Attachment, { hear, attachments, stopping }: FileDeps) =>
  hear({ fileName, open: async () => ({ bytes: attachments.staged.read(attachment) }), signal: stopping });

function addHeard(
  heard: Heard,
  { file, attachment, words }: { file: ChatFile; attachment: Attachment; words: Words },
): void {
  if (heard.kind === 'text') return void words.spoken.push(heard.text);
  words.notes.push(`${recordingOf(file)} is attached as "${attachment.filename}". Nobody knows what was said in it.`);
  words.warnings.push(`${nameOf(file)}: ${heard.why} I have kept the recording.`);
}

const recordingOf = ({ seconds }: ChatFile): string =>
  seconds === undefined ? 'A recording' : `A recording of ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;

/** Undefined: it may succeed later. */
function unreadableOf(error: unknown, file: ChatFile): Unreadable | undefined {
  if (error instanceof ServiceError) {
    if (error.kind === 'too-large') return new Unreadable(tooLarge(file));
    return error.kind === 'rejected' ? new Unreadable(`I could not load ${nameOf(file)}.`) : undefined;
  }
  const isOfFile = error instanceof GatewayError && OF_FILE.has(error.code);
  return isOfFile ? new Unreadable(`${nameOf(file)}: ${error.message}.`) : undefined;
}

/** What is wrong with a file itself. */
const OF_FILE: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE']);

const tooLarge = (file: ChatFile): string =>
  `${nameOf(file)} is too large: I take at most ${LIMITS.attachmentBytes / 1024 / 1024} MiB.`;

const nameOf = ({ fileName, kind }: ChatFile): string =>
  fileName === undefined ? (kind === 'speech' ? 'the recording' : 'the file') : safeFileName(fileName, 'text');
