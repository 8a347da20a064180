import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Messages } from '../history/messages.ts';
import type { Owned } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import type { Statement } from '../store/store.ts';
import { copyTemplates } from '../templates/applied-templates.ts';
import { requireReadableName } from '../workstreams/session-keys.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { countCurrent, type WorkstreamData } from '../workstreams/workstream-data.ts';
import { toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { whenIdle } from './busy.ts';
import { copyInBatches } from './copy-conversation.ts';
import { countOf } from './cut.ts';
import { findMessage, reaches, readTurns } from './read-turns.ts';
import { requireAsked, requireTurnEnd } from './turns.ts';

interface ForksDeps {
  workstreams: Pick<Workstreams, 'addInBatches'>;
  messages: Pick<Messages, 'page' | 'backwards' | 'intactParts'>;
  clock: Pick<Clock, 'now'>;
  ids: Ids;
}

interface ForkOptions {
  /** Of the copy, if the conversation is not private. The copy of a private one is private, too. */
  owned: Owned;
  /** The end of a turn; default: the end of the conversation. */
  seq?: number | undefined;
  /** A message of the person: the copy ends with its turn. */
  asked?: number | undefined;
  /** The name shown in lists. */
  name?: string | undefined;
}

/** Copies a conversation into a new workstream with the same folder, model, labels and templates. */
export class Forks {
  readonly #deps: ForksDeps;

  constructor(deps: ForksDeps) {
    this.#deps = deps;
  }

  /** Permissions are not copied. `also` is committed with it. Throws BUSY while a run is in progress. */
  fork(
    workstream: Workstream,
    { owned, seq, asked, name }: ForkOptions,
    also: (row: WorkstreamTable) => Statement[] = () => [],
  ): Promise<WorkstreamData> {
    const { workstreams, messages } = this.#deps;
    const label = name?.trim();
    if (label) requireReadableName(label);
    return whenIdle(workstream, 'fork', async (data) => {
      const { wsId, contextAfterSeq: after, messageCount } = data;
      if (countCurrent(data) === 0)
        throw new GatewayError('INVALID_REQUEST', 'This conversation has no messages to copy.');
      if (seq !== undefined) requireTurnEnd(await readTurns(data, messages, reaches(seq)), seq);
      const upTo = seq ?? (asked === undefined ? messageCount : await this.#endOfTurn(data, asked));
      const parts = await messages.intactParts(wsId, { after, upTo });
      const row = this.#rowOf(data, { owned, name: label });
      const batches = copyInBatches({ wsId, parts, after, upTo }, row.ws_id);
      const stored = { ...row, message_count: countOf(parts) };
      const last = [...copyTemplates(data, row.ws_id), ...also(stored)];
      const made = await workstreams.addInBatches({ row: stored, batches }, last);
      return made.data;
    });
  }

  /** The last message of the turn of a message. Throws if it is none of a person. */
  async #endOfTurn(data: WorkstreamData, seq: number): Promise<number> {
    const { messages } = this.#deps;
    requireAsked(await findMessage(data, messages, seq), seq);
    const turns = await readTurns(data, messages, reaches(seq));
    return turns.find(({ firstSeq, lastSeq }) => seq >= firstSeq && seq <= lastSeq)?.lastSeq ?? seq;
  }

  #rowOf(data: WorkstreamData, { owned, name }: { owned: Owned; name: string | undefined }): WorkstreamTable {
    const { ids, clock } = this.#deps;
    const { workdir, workdirIno, machineLabels, title, modelAlias, thinkingLevel, verboseLevel } = data;
    const made = {
      wsId: ids.wsId(),
      owned: data.visibility === 'private' ? { ownerId: owned.ownerId, visibility: data.visibility } : owned,
      ...(name && { name }),
      workdir,
      workdirIno,
      machineLabels,
      nowMs: clock.now(),
    };
    const settings = { title, model_alias: modelAlias, thinking_level: thinkingLevel, verbose_level: verboseLevel };
    return { ...toWorkstreamRow(made), ...settings };
  }
}
