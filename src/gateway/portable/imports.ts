import { GatewayError } from '../../../protocol/errors.ts';
import type {
  ConversationFile,
  FileContent,
  FileNote,
} from '../../../protocol/methods/conversation/conversation-file.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { toPlainName } from '../../../protocol/text/plain-text.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Clock } from '../../clock.ts';
import { CheckedContent } from '../../content/content-check.ts';
import { safeFileName, TEXT_TYPE } from '../../content/file-kind.ts';
import { kindOfMedia } from '../../content/media-type.ts';
import type { Ids } from '../../ids.ts';
import { insertConsumed } from '../attachments/attachment-rows.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { InlineFile } from '../attachments/inline.ts';
import type { ImportedDecision } from '../history/notes.ts';
import type { LiveSettings } from '../live-settings.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { newlyOwned, type Viewer } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { type CreateOptions, prepareNew } from '../workstreams/new-workstream.ts';
import type { Namer, Workdirs } from '../workstreams/workdirs.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { checkFile, problem } from './check-file.ts';
import { agentRows } from './file-agent.ts';
import { toMessage } from './file-message.ts';

interface ImportsDeps {
  store: Pick<Store, 'machine'>;
  workstreams: Pick<Workstreams, 'addInBatches'>;
  attachments: Pick<Attachments, 'hold' | 'newId'>;
  models: Models;
  workdirs: Workdirs;
  live: Pick<LiveSettings, 'visibility'>;
  clock: Clock;
  ids: Ids;
}

interface ImportOptions {
  /** Default: as for other new workstreams. */
  workdir?: string | undefined;
  by: Namer;
  /** The owner of the new workstream. */
  viewer: Viewer;
}

/** A workstream that was made from a file. */
export interface Imported {
  wsId: string;
  name: string;
  messageCount: number;
  unknownModel?: string;
  missingFiles?: string[];
}

/** Makes workstreams from exported conversations. They have no permissions, and nothing in them counts as trusted. */
export class Imports {
  readonly #deps: ImportsDeps;

  constructor(deps: ImportsDeps) {
    this.#deps = deps;
  }

  /** `also` is committed with it. Throws INVALID_REQUEST that names the place in the file, and then changes nothing. */
  async import(
    file: ConversationFile,
    { workdir, by, viewer }: ImportOptions,
    also: (made: Imported) => Statement[] = () => [],
  ): Promise<Imported> {
    checkFile(file);
    const model = await this.#findModel(file.model);
    const chosen: CreateOptions = { by, owned: newlyOwned(viewer, this.#deps.live) };
    if (file.name !== undefined) chosen.name = file.name;
    if (model !== undefined) chosen.model = model;
    if (workdir !== undefined) chosen.workdir = workdir;
    const { row, statements } = await prepareNew(chosen, this.#deps);
    const held = await this.#deps.attachments.hold({ wsId: row.ws_id, principal: by.id }, contentsOf(file.files));
    try {
      const attachments = this.#placeFiles(file.files, held.attachments);
      const values = toValues(file);
      const missing = file.files.filter(({ base64 }) => base64 === undefined);
      const made: Imported = {
        wsId: row.ws_id,
        name: row.generated_name,
        messageCount: file.messages.length,
        ...(file.model !== undefined && model === undefined && { unknownModel: file.model }),
        ...(missing.length > 0 && { missingFiles: missing.map(({ name }) => name) }),
      };
      const added = { wsId: row.ws_id, principal: by.id, nowMs: this.#deps.clock.now() };
      await this.#deps.workstreams.addInBatches(
        { row: { ...row, ...values }, batches: this.#rowsOf(row.ws_id, file, attachments) },
        [
          ...statements,
          ...attachments.map((attachment) => insertConsumed({ attachment, ...added })),
          setWorkstream(row.ws_id, values),
          ...also(made),
        ],
      );
      held.settle();
      return made;
    } catch (error) {
      await held.abandon();
      throw error;
    }
  }

  *#rowsOf(wsId: string, file: ConversationFile, attachments: readonly Attachment[]) {
    yield* rowsOf(wsId, file, attachments);
    yield* agentRows(wsId, file.agents ?? [], this.#deps.ids);
  }

  /** Undefined for a model that does not exist here. */
  async #findModel(asked: string | undefined): Promise<string | undefined> {
    if (asked === undefined) return undefined;
    try {
      return (await this.#deps.models.resolve(asked)).alias;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'INVALID_REQUEST') return undefined;
      throw error;
    }
  }

  /** The attachments in the order of the file; those without bytes get an id without a file. */
  #placeFiles(files: readonly FileContent[], held: readonly Attachment[]): Attachment[] {
    const arrived = held.values();
    return files.map((file) => {
      const { name, mimeType: mime_type, sizeBytes: size_bytes, base64 } = file;
      const kept = base64 === undefined ? undefined : arrived.next().value;
      if (kept) return kept;
      const kind = kindOf(file);
      const filename = safeFileName(name, kind);
      return { attachment_id: this.#deps.attachments.newId(), filename, mime_type, size_bytes, kind };
    });
  }
}

const toValues = ({ title, messages, thinkingLevel, verboseLevel }: ConversationFile) =>
  ({
    title: toPlainName(title ?? '') || null,
    thinking_level: thinkingLevel ?? null,
    verbose_level: verboseLevel ?? null,
    message_count: messages.length,
  }) satisfies Partial<WorkstreamTable>;

/** The files that have bytes, one at a time. Throws if one of them is not what the file says. */
async function* contentsOf(files: readonly FileContent[]): AsyncGenerator<InlineFile> {
  for (const [index, { name, mimeType, sizeBytes, base64 }] of files.entries()) {
    const refuse = (what: string) => problem(`files.${index}`, what);
    if (base64 === undefined) continue;
    if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw refuse('base64 is not valid');
    const bytes = Buffer.from(base64, 'base64');
    const { type } = await read(new CheckedContent([bytes]), refuse);
    if (type.mime_type !== mimeType) throw refuse(`its bytes are ${type.mime_type}, not ${mimeType}`);
    if (type.size_bytes !== sizeBytes) throw refuse(`it has ${type.size_bytes} bytes, not ${sizeBytes}`);
    yield { fileName: safeFileName(name, type.kind), mimeType, kind: type.kind, bytes };
  }
}

const kindOf = ({ mimeType }: FileContent) => kindOfMedia(mimeType) ?? (mimeType === TEXT_TYPE ? 'text' : 'image');

async function read(content: CheckedContent, refuse: (what: string) => GatewayError): Promise<CheckedContent> {
  try {
    for await (const _ of content); // only checked
    return content;
  } catch (error) {
    throw error instanceof GatewayError ? refuse(error.message) : error;
  }
}

/** The messages and notes, in batches. */
function* rowsOf(wsId: string, { messages, notes }: ConversationFile, attachments: readonly Attachment[]) {
  for (let from = 0; from < messages.length; from += BATCH)
    yield messages
      .slice(from, from + BATCH)
      .map((message, index) => insertMessage({ wsId, seq: from + index + 1 }, message, attachments));
  for (let from = 0; from < notes.length; from += BATCH)
    yield notes.slice(from, from + BATCH).map((note, index) => insertNote(wsId, note, from + index - notes.length + 1));
}

/** Rows in one unit. */
const BATCH = 200;

const insertMessage = (
  { wsId, seq }: { wsId: string; seq: number },
  message: FileMessage,
  attachments: readonly Attachment[],
): Statement => ({
  sql: `INSERT INTO messages (ws_id, seq, run_id, body_json, created_ms, checksum)
        VALUES (?1, ?2, NULL, ?3, ?4, message_checksum(?1, ?2, NULL, ?3, ?4))`,
  parameters: [wsId, seq, JSON.stringify(toMessage(message, attachments)), message.createdMs],
  expect: 1,
});

/** `place` is below 1 and increases. */
const insertNote = (wsId: string, note: FileNote, place: number): Statement =>
  statementOf(
    build.insertInto('notes').values({
      ws_id: wsId,
      after_seq: note.after,
      offset: place,
      body_json: JSON.stringify(toEvent(note, `${wsId}:${place}`)),
      created_ms: note.createdMs,
    }),
    1,
  );

function toEvent(note: FileNote, id: string): object {
  if (note.kind === 'info') {
    const { createdMs: _, after: __, kind: type, ...info } = note;
    return { type, ...info };
  }
  if (note.kind === 'error') return { type: note.kind, message: note.message };
  const { kind: type, question, calls, approved, always, feedback, by: kind } = note;
  return {
    type,
    approval_id: id,
    question,
    calls: calls.map(({ callId, name }) => ({ call_id: callId, name })),
    approved,
    always,
    feedback,
    by: kind === 'principal' ? { kind, id: 'imported' } : { kind },
  } satisfies ImportedDecision;
}
