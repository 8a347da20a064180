import type { RunHooks } from '../../agent/hooks/hooked-run.ts';
import type { Hooks } from '../../agent/hooks/hooks.ts';
import type { Recorder } from '../../agent/run/recorder.ts';
import type { WorkdirSource } from '../../agent/tools/workdir.ts';
import type { Log } from '../../log.ts';
import type { Rules } from '../rules/rules.ts';
import type { LiveRun } from '../runs/live-run.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

interface HooksOfRunDeps {
  hooks: Pick<Hooks, 'ofRun'>;
  store: Pick<Store, 'commit'>;
  rules: Pick<Rules, 'of'>;
  stopping: AbortSignal;
  log: Log;
}

/** The hooks of a run, and its recorder, which starts those that run when a question waits. */
export function hooksOfRun(
  live: LiveRun,
  { data, workdir }: { data: WorkstreamData; workdir: WorkdirSource },
  { hooks: all, store, rules, stopping, log }: HooksOfRunDeps,
): { hooks: RunHooks; recorder: Recorder } {
  const { wsId, runId } = live.run;
  const hooks = all.ofRun({
    wsId,
    runId,
    workdir,
    signal: live.signal,
    stopping,
    ruleOn: (host) => rules.of(data).onHost({ names: ['hook'] }, host),
    // Not a step of the run, which may have ended. Refused if the workstream was deleted meanwhile.
    tell: (message) =>
      void store
        .commit({
          statements: [stillThere(wsId)],
          events: { wsId, events: [{ type: 'info', message }] },
        })
        .catch((err: unknown) => log.warn({ err, wsId }, 'the notice of a hook could not be stored')),
  });
  void live.ended.then((end) => hooks.onEnd(end));
  const recorder: Recorder = {
    async record(step) {
      await live.record(step);
      if (step.approval && !step.approval.isJoined) hooks.onAttention(step.approval);
    },
    emit: (event) => live.emit(event),
  };
  return { hooks, recorder };
}

/** Refused otherwise. */
const stillThere = (wsId: string): Statement =>
  statementOf(build.updateTable('workstreams').set({ ws_id: wsId }).where('ws_id', '=', wsId), 1);
