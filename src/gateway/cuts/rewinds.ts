import { GatewayError } from '../../../protocol/errors.ts';
import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import { StepOutdated } from '../../agent/run/recorder.ts';
import type { Clock } from '../../clock.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { ChangedFiles, ConflictChoices } from '../checkpoints/file-changes.ts';
import type { Messages } from '../history/messages.ts';
import { lesserOf, type Sender } from '../rights.ts';
import type { RunHandle } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import type { Statement, Store } from '../store/store.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { countCurrent, type WorkstreamData } from '../workstreams/workstream-data.ts';
import { busy, whenIdle } from './busy.ts';
import { type NewCut, planCut } from './new-cut.ts';
import { findLast, findMessage, hasAsked, reaches, readTurns } from './read-turns.ts';
import {
  type AskedMessage,
  beforeLast,
  getLastAsked,
  hasFailed,
  requireAsked,
  requireFailed,
  requireTurnEnd,
} from './turns.ts';

interface RewindsDeps {
  store: Store;
  messages: Pick<Messages, 'page' | 'backwards'>;
  runs: Runs;
  checkpoints: Pick<Checkpoints, 'takeBackAfter'>;
  clock: Pick<Clock, 'now'>;
}

/** How far to rewind: by turns of the person, or to the end of a turn. */
export type RewindTarget = ({ turns: number } | { toSeq: number }) & {
  /** Also takes back what the runs changed on disk. */
  files?: ConflictChoices | undefined;
};

/** The last message that counts, and how many were taken back. */
export interface Rewound {
  afterSeq: number;
  taken: number;
  /** What became of the files, if they were asked for. */
  files?: ChangedFiles;
}

/** Who sends a message again. */
export interface Resender extends Sender {
  key?: string;
  /** Statements to commit together with the acceptance. */
  also?(runId: string): Statement[];
}

/**
 * Takes messages back. They stay stored, but neither people nor the model see them any more; files on disk stay as they
 * are, unless a rewind asks for them. Every method throws BUSY while a run is in progress.
 */
export class Rewinds {
  readonly #deps: RewindsDeps;

  constructor(deps: RewindsDeps) {
    this.#deps = deps;
  }

  /** `also` is committed with it. */
  rewind(
    workstream: Workstream,
    target: RewindTarget,
    also: (done: Rewound) => Statement[] = () => [],
  ): Promise<Rewound> {
    return whenIdle(workstream, 'rewind', async (data) => {
      const afterSeq = Math.max(await this.#endOf(data, target), data.contextAfterSeq);
      const before = countCurrent(data);
      // First, because nothing is taken back if a file is a conflict. Its message for the model is taken back, too.
      const files = target.files && (await this.#deps.checkpoints.takeBackAfter(data, afterSeq, target.files));
      const planned = await this.#planRewind(data, afterSeq, 'rewind');
      const taken = before - planned.left;
      const done = { afterSeq: planned.cut.afterSeq, taken, ...(files && { files }) };
      if (countCurrent(data) === planned.left) await this.#deps.store.commit({ statements: also(done) });
      else await this.#commit(workstream, planned, also(done));
      return done;
    });
  }

  /** Removes a message whose run failed without an answer; by default the last one. Returns its number. */
  remove(
    workstream: Workstream,
    seq: number | undefined,
    also: (seq: number) => Statement[] = () => [],
  ): Promise<number> {
    const { store, messages, clock } = this.#deps;
    return whenIdle(workstream, 'remove', async (data) => {
      const found =
        seq === undefined ? await findLast(data, messages, hasFailed) : await findMessage(data, messages, seq);
      const { seq: toSeq } = requireFailed(found, seq);
      const event: StreamEventOf<'message_removed'> = { type: 'message_removed', seq: toSeq };
      const range = { kind: 'remove', afterSeq: toSeq - 1, toSeq } as const;
      const planned = await planCut(data, { ...range, event }, { store, nowMs: clock.now() });
      await this.#commit(workstream, planned, also(toSeq));
      return toSeq;
    });
  }

  /** Sends a message of the person again, in place of itself and everything after it; by default the last one. */
  async retry(workstream: Workstream, seq: number | undefined, by: Resender): Promise<RunHandle> {
    const asked = await this.#readAsked(workstream, seq);
    return this.#resend(workstream, { asked, message: asked.message.content, reason: 'retry' }, by);
  }

  /** Sends a text in place of a message of the person and everything after it; by default the last one. */
  async edit(
    workstream: Workstream,
    { seq, message }: { seq: number | undefined; message: string },
    by: Resender,
  ): Promise<RunHandle> {
    const asked = await this.#readAsked(workstream, seq);
    const text = message.trim();
    if (text === '' && !asked.message.attachments) throw new GatewayError('INVALID_REQUEST', 'Empty message');
    return this.#resend(workstream, { asked, message: text, reason: 'edit' }, by);
  }

  async #resend(
    workstream: Workstream,
    { asked, message, reason }: { asked: AskedMessage; message: string; reason: 'retry' | 'edit' },
    { principal, rights, sender, key, also }: Resender,
  ): Promise<RunHandle> {
    if (workstream.busy) throw busy(workstream.heldBy);
    const { attachments = [], trusted, taint, watch, sentBy } = asked.message;
    // The text may have lines that no person wrote. An edit may have left them in.
    const read = taint ?? watch?.taint ?? sentBy?.taint;
    const isForeign = !trusted && (reason === 'retry' || attachments.length > 0);
    const cut = await this.#planRewind(workstream.data, asked.seq - 1, reason);
    const handle = await this.#deps.runs
      .acceptIfIdle(workstream, {
        message,
        principal,
        rights: isForeign ? lesserOf(rights, 'write') : rights,
        ...(sender !== undefined && { sender }),
        ...(key !== undefined && { key }),
        source: 'person',
        ...(read && { request: { taint: read } }),
        again: { cut, attachments },
        also: (runId) => also?.(runId) ?? [],
      })
      .catch((error: unknown) => {
        throw error instanceof StepOutdated ? changedMeanwhile(error) : error;
      });
    if (!handle) throw busy(workstream.heldBy);
    return handle;
  }

  #planRewind(data: WorkstreamData, toSeq: number, reason: StreamEventOf<'rewound'>['reason']): Promise<NewCut> {
    const { store, clock } = this.#deps;
    const afterSeq = Math.max(toSeq, data.contextAfterSeq);
    const event: StreamEventOf<'rewound'> = { type: 'rewound', after_seq: afterSeq, reason };
    const cut = { kind: 'rewind', afterSeq, toSeq: data.messageCount, event } as const;
    return planCut(data, cut, { store, nowMs: clock.now() });
  }

  async #commit(workstream: Workstream, { statements, event, apply }: NewCut, also: Statement[]): Promise<void> {
    const { wsId } = workstream.data;
    await this.#deps.store.commit({ statements: [...statements, ...also], events: { wsId, events: [event] } });
    apply();
    workstream.context.forget();
  }

  /** The last message that a rewind leaves. Throws if a turn does not end there, or there are not so many turns. */
  async #endOf(data: WorkstreamData, target: RewindTarget): Promise<number> {
    const { messages } = this.#deps;
    if ('turns' in target) return beforeLast(await readTurns(data, messages, hasAsked(target.turns)), target.turns);
    if (target.toSeq === 0) return 0;
    requireTurnEnd(await readTurns(data, messages, reaches(target.toSeq)), target.toSeq);
    return target.toSeq;
  }

  /** A message of the person, by default the last one. Throws if the conversation changes while it is read. */
  async #readAsked(workstream: Workstream, seq: number | undefined): Promise<AskedMessage> {
    const { data } = workstream;
    const { messageCount, contextAfterSeq, cutCount } = data;
    const read =
      seq === undefined
        ? { turns: await readTurns(data, this.#deps.messages, hasAsked(1)) }
        : { seq, found: await findMessage(data, this.#deps.messages, seq) };
    if (workstream.busy) throw busy(workstream.heldBy); // its run may have taken the message back
    const isSame = data.contextAfterSeq === contextAfterSeq && data.cutCount === cutCount;
    if (!isSame || data.messageCount !== messageCount) throw changedMeanwhile();
    return 'turns' in read ? getLastAsked(read.turns) : requireAsked(read.found, read.seq);
  }
}

const changedMeanwhile = (cause?: unknown) =>
  new GatewayError('UNAVAILABLE', 'The conversation has changed meanwhile; try again', { cause });
