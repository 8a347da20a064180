import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { Attachment } from '../../../protocol/stream-events.ts';
import type { ReadPdfText } from '../../agent/tools/documents/attached-pdf.ts';
import type { Clock } from '../../clock.ts';
import { CheckedContent } from '../../content/content-check.ts';
import { safeFileName } from '../../content/file-kind.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import type { Idempotency } from '../idempotency.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { AttachmentTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { unknownWorkstream } from '../workstreams/session-keys.ts';
import { readAnywhere } from '../workstreams/workstream-rows.ts';
import { tooMany, tooManyAtOnce, tooManyForOne, unknown } from './attachment-errors.ts';
import type { AttachmentFiles } from './attachment-files.ts';
import { findAttachment, findWaiting, type Owner, unnamedOf } from './attachment-queries.ts';
import { insertPending, insertReserved, type NewAttachment, reserve, toAttachment } from './attachment-rows.ts';
import type { Claim, Held } from './claim.ts';
import type { InlineFile } from './inline.ts';
import { PdfTexts } from './pdf-texts.ts';
import { type ReceivedFile, StagedFiles } from './staged-files.ts';
import { createWholeFiles, type WholeFiles } from './whole-files.ts';

interface AttachmentsDeps {
  store: Store;
  files: AttachmentFiles;
  pdfText: ReadPdfText;
  idempotency: Pick<Idempotency, 'answer'>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Who uploads a file or asks for one. */
export type Uploader = Owner & { viewer: Viewer };

type Files = AsyncIterable<InlineFile> | Iterable<InlineFile>;

/** Uploads that were not sent within this time are removed. */
const PENDING_DAYS = 7;
const DAY_MS = 86_400_000;

/** The files of messages: rows in the store, bytes in files of the home or in the database. The next sweep removes files without a row. */
export class Attachments {
  readonly #deps: AttachmentsDeps;
  readonly #whole: WholeFiles;
  readonly #pdfs: PdfTexts;
  /** Files whose row is not committed yet, with their owner, so that the sweep keeps them. */
  readonly #arriving = new Map<string, string>();
  /** Files whose workstream is not there yet. */
  readonly staged: StagedFiles;

  constructor(deps: AttachmentsDeps) {
    this.#deps = deps;
    this.#whole = createWholeFiles(deps);
    this.#pdfs = new PdfTexts({ whole: this.#whole, pdfText: deps.pdfText });
    const { files, clock, ids } = deps;
    this.staged = new StagedFiles({ files, arriving: this.#arriving, clock, ids });
  }

  /**
   * Stores a file as pending. Throws GatewayError if it cannot be attached, and errors of `bytes`. Repeating an upload
   * with the same idempotency key returns the existing file, whatever its state.
   */
  async receive({ viewer, ...owner }: Uploader, { fileName, bytes }: ReceivedFile, key?: string): Promise<Attachment> {
    await this.#requireWorkstream(owner.wsId, viewer);
    // With a key, the file may be one of the pending ones; that is known only after it was read.
    if (key === undefined && (await this.#waiting(owner)).length >= LIMITS.pendingAttachments) throw tooMany();
    const arriving = [...this.#arriving.values()].filter((principal) => principal === owner.principal);
    if (arriving.length >= LIMITS.uploadsAtOnce) throw tooManyAtOnce();
    const { files, clock, ids } = this.#deps;
    const id = ids.id('att');
    const hash = createHash('sha256');
    this.#arriving.set(id, owner.principal);
    try {
      const checked = new CheckedContent(bytes);
      await files.write(id, key === undefined ? checked : hashing(checked, hash));
      const { type } = checked;
      const attachment = { attachment_id: id, filename: safeFileName(fileName, type.kind), ...type };
      const added = { attachment, ...owner, nowMs: clock.now() };
      return await this.#add(added, key === undefined ? undefined : { key, sha256: hash.digest('hex') });
    } finally {
      this.#arriving.delete(id);
    }
  }

  /** Adds its row, or returns the row that exists for its key. The file is removed if no row was added. */
  async #add(added: NewAttachment, keyed: { key: string; sha256: string } | undefined): Promise<Attachment> {
    const { store, files, idempotency } = this.#deps;
    const { attachment, wsId, principal } = added;
    const commit = async (also: Statement[]): Promise<Attachment> => {
      await store.commit({ statements: [insertPending(added, LIMITS.pendingAttachments), ...also] });
      return attachment;
    };
    const commitOnce = async ({ key, sha256 }: { key: string; sha256: string }): Promise<Attachment> => {
      const params = { wsId, fileName: attachment.filename, sha256 };
      const request = {
        method: UPLOAD,
        key,
        params,
        caller: { principal: { id: principal }, signal: NEVER, interim: () => undefined },
      };
      return Attachment.parse(
        await idempotency.answer(request, ({ kept, keep }) =>
          kept === undefined ? commit(keep(attachment)) : this.#requireRow(wsId, Attachment.parse(kept)),
        ),
      );
    };
    let stored: Attachment | undefined;
    try {
      stored = keyed ? await commitOnce(keyed) : await commit([]);
      return stored;
    } catch (error) {
      throw error instanceof UnitRefused ? tooMany() : error;
    } finally {
      if (stored?.attachment_id !== attachment.attachment_id) await files.remove(attachment.attachment_id);
    }
  }

  /** The files that the owner has uploaded and not sent yet, oldest first. */
  async list({ viewer, ...owner }: Uploader): Promise<Attachment[]> {
    await this.#requireWorkstream(owner.wsId, viewer);
    return this.#waiting(owner);
  }

  async #waiting(owner: Owner): Promise<Attachment[]> {
    return (await findWaiting(this.#deps.store.db, owner)).map(toAttachment);
  }

  /** Throws NOT_FOUND, including for files that another caller has uploaded and not sent. */
  async open(owner: Uploader, id: string): Promise<{ attachment: Attachment; bytes: Readable }> {
    const attachment = toAttachment(await this.#get(owner, id));
    const file = await this.#whole.open(attachment);
    if (!file) throw new GatewayError('NOT_FOUND', 'The file of the attachment is gone or damaged');
    return { attachment, bytes: file.createReadStream() };
  }

  /** Throws CONFLICT for a file that belongs to a message. */
  async remove(owner: Uploader, id: string): Promise<void> {
    await this.#get(owner, id);
    const { store, files } = this.#deps;
    const pending = build
      .deleteFrom('attachments')
      .where('ws_id', '=', owner.wsId)
      .where('attachment_id', '=', id)
      .where('status', '=', 'pending');
    try {
      await store.commit({ statements: [statementOf(pending, 1)] });
    } catch (error) {
      if (!(error instanceof UnitRefused)) throw error;
      throw new GatewayError('CONFLICT', 'The attachment belongs to a message');
    }
    await files.remove(id);
  }

  /**
   * Claims files for one message: uploaded ones in the requested order (`pending`: all that are pending), then those in
   * the message itself. Nothing is claimed until the statements are committed.
   */
  async claim(owner: Owner, asked: { ids: readonly string[] | 'pending'; inline?: InlineFile[] }): Promise<Claim> {
    const waiting = asked.ids.length === 0 ? [] : await this.#waiting(owner);
    const ids = [...new Set(asked.ids === 'pending' ? idsOf(waiting) : asked.ids)];
    const found = ids.flatMap((id) => waiting.find(({ attachment_id }) => attachment_id === id) ?? []);
    const { whole: uploaded, damaged } = await this.#whole.sort(found);
    const taken = new Set(idsOf(uploaded));
    if (uploaded.length + (asked.inline?.length ?? 0) > LIMITS.attachmentsPerMessage) throw tooManyForOne();
    const inline = await this.#keep(owner, asked.inline ?? []);
    const inlineIds = idsOf(inline.map(({ attachment }) => attachment));
    return {
      attachments: [...uploaded, ...inline.map(({ attachment }) => attachment)],
      dropped: ids.filter((id) => !taken.has(id)),
      damaged: idsOf(damaged),
      statements: (runId) => [
        ...[...taken].map((id) => reserve(owner.wsId, id, runId)),
        ...inline.map((added) => insertReserved(added, runId)),
      ],
      abandon: () => this.#discard(inlineIds),
      settle: () => this.#settle(inlineIds),
    };
  }

  /** Stores files of messages that are stored later; `settle` it after their rows are committed. */
  async hold(owner: Owner, added: Files): Promise<Held> {
    const attachments = (await this.#keep(owner, added)).map(({ attachment }) => attachment);
    const ids = idsOf(attachments);
    return { attachments, abandon: () => this.#discard(ids), settle: () => this.#settle(ids) };
  }

  newId(): string {
    return this.#deps.ids.id('att');
  }

  /** The bytes of a message's attachment; undefined when they are gone or damaged. */
  read(attachment: Attachment): Promise<Buffer | undefined> {
    return this.#whole.read(attachment);
  }

  /** What a model reads of a message's attachment: the text of a PDF, and the bytes of other files. */
  readForModel(attachment: Attachment): Promise<Buffer | undefined> {
    return attachment.kind === 'pdf' ? this.#pdfs.read(attachment) : this.#whole.read(attachment);
  }

  /** Removes uploads that were never sent, and files without a workstream. Retries failures at the next sweep. */
  async sweep(): Promise<void> {
    try {
      await this.#sweep();
    } catch (err) {
      this.#deps.log.warn({ err }, 'unused files could not be removed');
    }
  }

  async #sweep(): Promise<void> {
    const { store, files, clock, log } = this.#deps;
    const forgotten = build
      .deleteFrom('attachments')
      .where('status', '=', 'pending')
      .where('created_ms', '<', clock.now() - PENDING_DAYS * DAY_MS);
    await store.commit({ statements: [statementOf(forgotten)] });
    const mayGo = (id: string) => isOurs(id) && !this.#arriving.has(id);
    for await (const id of unnamedOf(store.db, (await files.list()).filter(mayGo)))
      await files.remove(id).catch((err: unknown) => log.warn({ err, attachment: id }, 'an unused file stays'));
  }

  /** Sweeps daily until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return dailyWhileSteady(this.#deps.clock, signal, () => this.sweep());
  }

  async #keep(owner: Owner, added: Files): Promise<NewAttachment[]> {
    const { files, clock, ids } = this.#deps;
    const kept: NewAttachment[] = [];
    try {
      for await (const { fileName: filename, mimeType: mime_type, kind, bytes } of added) {
        const attachment_id = ids.id('att');
        this.#arriving.set(attachment_id, owner.principal);
        const attachment: Attachment = { attachment_id, filename, mime_type, size_bytes: bytes.length, kind };
        kept.push({ attachment, ...owner, nowMs: clock.now() });
        await files.write(attachment_id, [bytes]);
      }
    } catch (error) {
      await this.#discard(idsOf(kept.map(({ attachment }) => attachment)));
      throw error;
    }
    return kept;
  }

  async #discard(ids: string[]): Promise<void> {
    this.#settle(ids);
    for (const id of ids) await this.#deps.files.remove(id);
  }

  #settle(ids: string[]): void {
    for (const id of ids) this.#arriving.delete(id);
  }

  async #get({ wsId, principal, viewer }: Uploader, id: string): Promise<AttachmentTable> {
    const row = await findAttachment(this.#deps.store.db, wsId, id);
    if (!row || !(await this.#isThere(wsId, viewer)) || (row.status === 'pending' && row.principal !== principal))
      throw unknown();
    return row;
  }

  /** Throws if the row is gone, so that a late repeat does not restore a file that its owner has removed. */
  async #requireRow(wsId: string, attachment: Attachment): Promise<Attachment> {
    if (await findAttachment(this.#deps.store.db, wsId, attachment.attachment_id)) return attachment;
    throw new GatewayError(
      'CONFLICT',
      'the file of this idempotency key was removed; use a new key to upload it again',
    );
  }

  async #isThere(wsId: string, viewer: Viewer): Promise<boolean> {
    return (await readAnywhere(this.#deps.store, wsId, viewer)) !== undefined;
  }

  async #requireWorkstream(wsId: string, viewer: Viewer): Promise<void> {
    if (!(await this.#isThere(wsId, viewer))) throw unknownWorkstream();
  }
}

/** A person may keep other files in the folder, or have linked it to one of their own. */
const isOurs = (id: string): boolean => id.startsWith('att_');

/** The scope of idempotency keys for uploads. */
const UPLOAD = 'attachment.upload';
/** The file exists when the row is committed, so nothing cancels this call. */
const NEVER = new AbortController().signal;

async function* hashing(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

const idsOf = (attachments: Attachment[]): string[] => attachments.map(({ attachment_id }) => attachment_id);
