import { createHash, type Hash } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { Attachment } from '../../../protocol/stream-events.ts';
import type { Clock } from '../../clock.ts';
import { JudgedBytes } from '../../content/content-check.ts';
import { safeFileName } from '../../content/file-kind.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { dailyWhileSteady } from '../../steady-time.ts';
import type { Idempotency } from '../idempotency.ts';
import { DELETED } from '../store/deletion.ts';
import type { AttachmentTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import type { AttachmentFiles } from './attachment-files.ts';
import { findAttachment, findWaiting, isNamed, type Owner } from './attachment-queries.ts';
import { insertPending, insertReserved, type NewAttachment, reserve, toAttachment } from './attachment-rows.ts';
import type { InlineImage } from './inline.ts';
import { createWholeFiles, type WholeFiles } from './whole-files.ts';

interface AttachmentsDeps {
  store: Store;
  files: AttachmentFiles;
  idempotency: Pick<Idempotency, 'answer'>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** What the sender calls a file, and its bytes as they come in. */
export interface ReceivedFile {
  fileName: string | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

/** Files on their way into one message. */
export interface Claim {
  attachments: Attachment[];
  /** Ids that were asked for and cannot be had. */
  dropped: string[];
  /** Those of them that wait, but whose file is not what was uploaded. */
  damaged: string[];
  /** To be committed with the acceptance of the run; refused when another message was quicker. */
  statements(runId: string): Statement[];
  /** The message was not accepted: what came with it goes. */
  abandon(): Promise<void>;
  /** The message was accepted. */
  settle(): void;
}

/** Uploaded ones that no message took in so long are removed. */
const PENDING_DAYS = 7;
const DAY_MS = 86_400_000;

/** The files of messages: rows in the store, bytes beside it. A file whose row never came about goes with the next sweep. */
export class Attachments {
  readonly #deps: AttachmentsDeps;
  readonly #whole: WholeFiles;
  /** Files whose row is on its way, and whose they are: no orphans. */
  readonly #arriving = new Map<string, string>();

  constructor(deps: AttachmentsDeps) {
    this.#deps = deps;
    this.#whole = createWholeFiles(deps);
  }

  /**
   * Stores one file as pending. Throws GatewayError for what cannot be attached, and whatever `bytes` throws. The same file
   * again under the same idempotency key is the one that is there, wherever it has got to.
   */
  async receive(owner: Owner, { fileName, bytes }: ReceivedFile, key?: string): Promise<Attachment> {
    await this.#requireWorkstream(owner.wsId);
    // Under a key it may be one of those that wait: that is known when it was read.
    if (key === undefined && (await this.#waiting(owner)).length >= LIMITS.pendingAttachments) throw tooMany();
    const arriving = [...this.#arriving.values()].filter((principal) => principal === owner.principal);
    if (arriving.length >= LIMITS.uploadsAtOnce) throw tooManyAtOnce();
    const { files, clock, ids } = this.#deps;
    const id = ids.id('att');
    const hash = createHash('sha256');
    this.#arriving.set(id, owner.principal);
    try {
      const judged = new JudgedBytes(bytes);
      await files.write(id, key === undefined ? judged : hashing(judged, hash));
      const { judgement } = judged;
      const attachment = { attachment_id: id, filename: safeFileName(fileName, judgement.kind), ...judgement };
      const added = { attachment, ...owner, nowMs: clock.now() };
      return await this.#add(added, key === undefined ? undefined : { key, sha256: hash.digest('hex') });
    } finally {
      this.#arriving.delete(id);
    }
  }

  /** Its row, or the one that is there for its key; without a row of its own the file goes. */
  async #add(added: NewAttachment, keyed: { key: string; sha256: string } | undefined): Promise<Attachment> {
    const { store, files, idempotency } = this.#deps;
    const { attachment, wsId, principal } = added;
    const commit = async (also: Statement[]): Promise<Attachment> => {
      await store.commit({ statements: [insertPending(added, LIMITS.pendingAttachments), ...also] });
      return attachment;
    };
    const commitOnce = async ({ key, sha256 }: { key: string; sha256: string }): Promise<Attachment> => {
      const params = { wsId, fileName: attachment.filename, sha256 };
      const request = { method: UPLOAD, key, params, caller: { principal: { id: principal }, ...UNHURRIED } };
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

  /** What the owner has uploaded and not sent yet, oldest first. */
  async list(owner: Owner): Promise<Attachment[]> {
    await this.#requireWorkstream(owner.wsId);
    return this.#waiting(owner);
  }

  async #waiting(owner: Owner): Promise<Attachment[]> {
    return (await findWaiting(this.#deps.store.db, owner)).map(toAttachment);
  }

  /** NOT_FOUND also for what another has uploaded and not sent. */
  async open(owner: Owner, id: string): Promise<{ attachment: Attachment; bytes: ReadStream }> {
    const attachment = toAttachment(await this.#get(owner, id));
    const file = await this.#whole.open(attachment);
    if (!file) throw new GatewayError('NOT_FOUND', 'The file of that attachment is gone or damaged');
    return { attachment, bytes: file.createReadStream() };
  }

  /** CONFLICT for what belongs to a message. */
  async remove(owner: Owner, id: string): Promise<void> {
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
      throw new GatewayError('CONFLICT', 'That attachment belongs to a message');
    }
    await files.remove(id);
  }

  /**
   * Takes files for one message: uploaded ones in the order asked for (`pending`: all that wait), then those that came with
   * it. Nothing is taken until the statements are committed.
   */
  async claim(owner: Owner, asked: { ids: readonly string[] | 'pending'; inline?: InlineImage[] }): Promise<Claim> {
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

  /** The bytes of an attachment of a message; undefined when they are gone or damaged. */
  read(attachment: Attachment): Promise<Buffer | undefined> {
    return this.#whole.read(attachment);
  }

  /** Removes what was never sent, and files that no workstream names any more. What fails waits for the next time. */
  async sweep(): Promise<void> {
    try {
      await this.#sweep();
    } catch (err) {
      this.#deps.log.warn({ err }, 'files that nobody needs could not be removed');
    }
  }

  async #sweep(): Promise<void> {
    const { store, files, clock } = this.#deps;
    const forgotten = build
      .deleteFrom('attachments')
      .where('status', '=', 'pending')
      .where('created_ms', '<', clock.now() - PENDING_DAYS * DAY_MS);
    await store.commit({ statements: [statementOf(forgotten)] });
    for (const id of await files.list())
      if (!this.#arriving.has(id) && !(await isNamed(store.db, id))) await files.remove(id);
  }

  /** Sweeps daily until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return dailyWhileSteady(this.#deps.clock, signal, () => this.sweep());
  }

  async #keep(owner: Owner, images: InlineImage[]): Promise<NewAttachment[]> {
    const { files, clock, ids } = this.#deps;
    const kept: NewAttachment[] = [];
    try {
      for (const { fileName: filename, mimeType: mime_type, bytes } of images) {
        const attachment_id = ids.id('att');
        this.#arriving.set(attachment_id, owner.principal);
        const attachment: Attachment = { attachment_id, filename, mime_type, size_bytes: bytes.length, kind: 'image' };
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

  async #get({ wsId, principal }: Owner, id: string): Promise<AttachmentTable> {
    const row = await findAttachment(this.#deps.store.db, wsId, id);
    if (!row || (row.status === 'pending' && row.principal !== principal)) throw unknown();
    return row;
  }

  /** A repeat that comes late must not bring back, nor name, what its owner has removed. */
  async #requireRow(wsId: string, attachment: Attachment): Promise<Attachment> {
    if (await findAttachment(this.#deps.store.db, wsId, attachment.attachment_id)) return attachment;
    throw new GatewayError(
      'CONFLICT',
      'the file of this idempotency key was removed; use a new key to upload it again',
    );
  }

  async #requireWorkstream(wsId: string): Promise<void> {
    const { db } = this.#deps.store;
    const row = await db.selectFrom('workstreams').select('loaded').where('ws_id', '=', wsId).executeTakeFirst();
    if (!row || row.loaded === DELETED) throw new GatewayError('NOT_FOUND', 'Unknown workstream');
  }
}

/** What keys of uploads are kept under. */
const UPLOAD = 'attachment.upload';
/** When the row is committed the file is there: nobody stops it any more. */
const UNHURRIED = { signal: new AbortController().signal, interim: () => undefined };

async function* hashing(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

const idsOf = (attachments: Attachment[]): string[] => attachments.map(({ attachment_id }) => attachment_id);

const unknown = () => new GatewayError('NOT_FOUND', 'Unknown attachment');

const tooMany = () =>
  new GatewayError('CONFLICT', `Too many attachments wait to be sent: at most ${LIMITS.pendingAttachments}`);

const tooManyAtOnce = () =>
  new GatewayError('BUSY', `Too many uploads at the same time: at most ${LIMITS.uploadsAtOnce}`);

export const tooManyForOne = () =>
  new GatewayError('INVALID_REQUEST', `too_many: at most ${LIMITS.attachmentsPerMessage} attachments per message`);
