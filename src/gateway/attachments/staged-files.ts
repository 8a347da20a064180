import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import type { Clock } from '../../clock.ts';
import { CheckedContent } from '../../content/content-check.ts';
import { safeFileName } from '../../content/file-kind.ts';
import type { Ids } from '../../ids.ts';
import type { Statement } from '../store/store.ts';
import { tooManyAtOnce } from './attachment-errors.ts';
import type { AttachmentFiles } from './attachment-files.ts';
import type { Owner } from './attachment-queries.ts';
import { insertPending, insertReserved } from './attachment-rows.ts';
import type { Claim } from './claim.ts';

/** A file as sent: its name and its bytes. */
export interface ReceivedFile {
  fileName: string | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

interface StagedDeps {
  files: Pick<AttachmentFiles, 'write' | 'open' | 'remove'>;
  /** Files without a row, with their owners, which the sweep keeps. */
  arriving: Map<string, string>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

/** Files of a request that creates their workstream, until the workstream is there. */
export class StagedFiles {
  readonly #deps: StagedDeps;
  readonly #staged = new Map<string, { principal: string; attachment: Attachment }>();

  constructor(deps: StagedDeps) {
    this.#deps = deps;
  }

  /** Stores a file. Either `adopt` names it, or `release` removes it. Throws GatewayError, and errors of `bytes`. */
  async stage(principal: string, { fileName, bytes }: ReceivedFile): Promise<Attachment> {
    const { files, arriving, ids } = this.#deps;
    const theirs = [...arriving.values()].filter((owner) => owner === principal);
    if (theirs.length >= LIMITS.uploadsAtOnce) throw tooManyAtOnce();
    const id = ids.id('att');
    arriving.set(id, principal);
    try {
      const checked = new CheckedContent(bytes);
      await files.write(id, checked);
      const attachment = { attachment_id: id, filename: safeFileName(fileName, checked.type.kind), ...checked.type };
      this.#staged.set(id, { principal, attachment });
      return attachment;
    } catch (error) {
      await this.#discard(id);
      throw error;
    }
  }

  /** Reads a file that was stored. */
  async *read({ attachment_id: id, size_bytes }: Attachment): AsyncGenerator<Uint8Array> {
    await using file = await this.#deps.files.open(id, size_bytes);
    if (!file) throw new GatewayError('UNAVAILABLE', 'The file that was just stored is gone');
    yield* file.createReadStream();
  }

  /**
   * The statements that add files to their workstream, in this order; `settle` it after they are committed. Throws
   * INVALID_REQUEST for files of others.
   */
  adopt(principal: string, ids: readonly string[]): { statementsFor(wsId: string): Statement[]; settle(): void } {
    const { clock } = this.#deps;
    const nowMs = clock.now();
    const found = ids.map((id) => {
      const staged = this.#staged.get(id);
      if (staged?.principal !== principal) throw new GatewayError('INVALID_REQUEST', 'Unknown file');
      return staged.attachment;
    });
    return {
      statementsFor: (wsId) =>
        found.map((attachment) => insertPending({ attachment, wsId, principal, nowMs }, LIMITS.pendingAttachments)),
      settle: () => this.#settle(ids),
    };
  }

  /** Claims files for one message of a workstream. They have no rows until its statements are committed. */
  claim({ wsId, principal }: Owner, ids: readonly string[]): Claim {
    const nowMs = this.#deps.clock.now();
    const attachments = ids.flatMap((id) => this.#staged.get(id)?.attachment ?? []);
    return {
      attachments,
      dropped: [],
      damaged: [],
      statements: (runId) =>
        attachments.map((attachment) => insertReserved({ attachment, wsId, principal, nowMs }, runId)),
      abandon: () => this.release(ids),
      settle: () => this.#settle(ids),
    };
  }

  /** Removes files that no workstream has taken. */
  async release(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (this.#staged.delete(id)) await this.#discard(id);
  }

  #settle(ids: readonly string[]): void {
    for (const id of ids) {
      this.#staged.delete(id);
      this.#deps.arriving.delete(id);
    }
  }

  async #discard(id: string): Promise<void> {
    this.#deps.arriving.delete(id);
    await this.#deps.files.remove(id);
  }
}
