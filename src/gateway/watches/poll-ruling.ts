import { findRevoked } from '../../agent/coordinator/revoked-tools.ts';
import type { CallRuling } from '../../agent/run/approval/call-ruling.ts';
import { rulingOf } from '../../agent/run/approval/ruling.ts';
import { type BatchCall, prepareCall } from '../../agent/run/batch-call.ts';
import type { RuledRun } from '../../agent/run/run-context.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Coordinators } from '../coordinators/coordinators.ts';
import type { Messages } from '../history/messages.ts';
import type { Judge } from '../judge/judge.ts';
import type { Rules } from '../rules/rules.ts';
import { type AlwaysRules, isFull } from '../workstreams/always.ts';
import type { Workdirs } from '../workstreams/workdirs.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { StoredWatch } from './watch-rows.ts';

export interface PollRulingDeps {
  messages: Pick<Messages, 'context'>;
  /** Only `bash`, with the output as it is printed. */
  toolbox: Toolbox;
  workdirs: Pick<Workdirs, 'hold'>;
  rules: Pick<Rules, 'of'>;
  always: Pick<AlwaysRules, 'covers'>;
  judge: Pick<Judge, 'ratingFor'>;
  coordinators: Pick<Coordinators, 'revokedIn'>;
  authenticator: Pick<Authenticator, 'endOf' | 'viewerOf'>;
  notSandboxed: string | undefined;
}

/** A poll that may run now, or why it may not. */
export type RuledPoll =
  | { kind: 'runs'; item: BatchCall; isByPerson: boolean }
  | { kind: 'refused'; ruling: CallRuling & { verdict: 'ask' | 'block' } }
  | { kind: 'revoked'; tool: string }
  | { kind: 'invalid'; reason: string };

/** The tools without which nothing is polled. */
const POLLING = ['watch', 'bash'];

/** Decides about the next poll exactly as about the same call of `bash` in a run, under the rules and modes of now. */
export async function rulePoll(
  watch: StoredWatch,
  workstream: Workstream,
  { deps, signal }: { deps: PollRulingDeps; signal: AbortSignal },
): Promise<RuledPoll> {
  const { row } = watch;
  const revoked = findRevoked(POLLING, await deps.coordinators.revokedIn(row.ws_id));
  if (revoked !== undefined) return { kind: 'revoked', tool: revoked };
  const run = await ruledRun(watch, workstream, { deps, signal });
  const call = {
    id: `${row.watch_id}:${row.poll_count + 1}`,
    name: 'bash',
    arguments: JSON.stringify({ command: row.command }),
  };
  const item = await prepareCall(run, call);
  if (item.prepared.kind === 'refused') return { kind: 'invalid', reason: item.prepared.reason };
  const ruling = rulingOf(run, item);
  const { verdict } = ruling;
  if (verdict === 'run') return { kind: 'runs', item, isByPerson: watch.allowed?.by === 'person' };
  if (verdict === 'ask' && isAnswered(ruling, watch, run))
    return { kind: 'runs', item, isByPerson: watch.allowed?.by === 'person' };
  return { kind: 'refused', ruling: { ...ruling, verdict } };
}

/**
 * Whether the question about a poll was answered when the watch was created. A person then saw the command, and why it was
 * asked about; what conversations read later cannot have changed it. A rule made later was not seen, and neither was a new
 * reason. The judge answers only for what it would be asked again.
 */
function isAnswered({ reason, rule, awaitsJudge }: CallRuling, { allowed, row }: StoredWatch, run: RuledRun): boolean {
  if (allowed === undefined) return false;
  if (allowed.by === 'judge') return awaitsJudge === true && run.settings.mode === 'auto';
  if (rule !== undefined && reason !== 'tainted') return rule.createdAtMs <= row.created_ms;
  return reason === 'tool' || reason === 'tainted' || reason === allowed.reason;
}

async function ruledRun(
  { row, rights }: StoredWatch,
  { data, current }: Workstream,
  { deps, signal }: { deps: PollRulingDeps; signal: AbortSignal },
): Promise<RuledRun> {
  const { workdirs, always, rules, judge, toolbox, notSandboxed } = deps;
  const messages = current?.messages ?? (await deps.messages.context(data));
  const covers = () =>
    always.covers(data.always, { run: { principal: row.created_by, request: { rights, unattended: true } }, messages });
  return {
    wsId: row.ws_id,
    messages,
    toolbox,
    notSandboxed,
    policy: undefined,
    isWatched: () => false,
    rules: rules.of(data),
    judge: judge.ratingFor(data),
    signal,
    settings: {
      workdir: workdirs.hold(data),
      get autoApprove() {
        return data.always !== undefined && isFull(data.always) && covers();
      },
      get approvedTools() {
        return covers() ? (data.always?.tools ?? []) : [];
      },
      get mode() {
        if (data.isReadOnly) return 'read_only';
        return (covers() ? data.always?.mode : undefined) ?? 'ask';
      },
    },
  };
}
