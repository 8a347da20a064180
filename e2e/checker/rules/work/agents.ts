import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import type { AgentOnDisk, Evidence, Finding, WorkstreamOnDisk } from '../../evidence.ts';
import { callsBy, resultFor, type Worker, workersOf } from '../../workers.ts';

/** A sub-agent ends once: in its events, in its journal and in its row, and does nothing afterwards. */
export function* agentEndsOnce({ disk, settled }: Evidence): Generator<Finding> {
  for (const { wsId, events, agents } of disk.workstreams) {
    const told = events.flatMap(({ event }) => (event.type === 'sub_agent' ? [event] : []));
    const byId = Map.groupBy(told, ({ agent_id }) => agent_id);
    for (const agent of agents) {
      const what = wrongEnd(agent, { told: byId.get(agent.row.agent_id) ?? [], settled });
      if (what !== undefined) yield { what: `${agent.row.agent_id} ${what}`, where: wsId };
    }
  }
}

function wrongEnd(agent: AgentOnDisk, { told, settled }: { told: readonly SubAgent[]; settled: boolean }) {
  const { row, state, end, journal } = agent;
  const ends = told.filter((event) => event.state === 'ended').length;
  const last = told.at(-1);
  const recorded = journal.filter(({ kind }) => kind === 'ended').length;
  const isOver = state.state === 'ended';
  const isOtherwise = last && (last.outcome !== state.outcome || last.turns !== state.turns);
  const problems: [boolean | undefined, string][] = [
    [ends > 1, `ended ${ends} times`],
    [ends === 1 && last?.state !== 'ended', 'worked after its end'],
    [isOver !== (ends === 1), `is ${state.state}, and its end was told ${ends} times`],
    [isOver === (row.is_running === 1), `is ${state.state}, and runs: ${row.is_running}`],
    [recorded > 1 || (end !== undefined && recorded !== 1), `has ${recorded} ends in its journal`],
    [isOtherwise, 'was told otherwise than it is stored'],
    [settled && !isOver, 'has no end'],
  ];
  return problems.find(([isWrong]) => isWrong)?.[1];
}

/** A call of `task` starts one sub-agent, and its result is the end of that one. */
export function* oneAgentPerCall({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    yield* strangeParents(workstream);
    for (const worker of workersOf(workstream)) {
      for (const { id: callId } of callsBy(worker).filter(({ name }) => name === 'task')) {
        const what = wrongStart(worker, callId, workstream);
        if (what !== undefined) yield { what: `${callId} ${what}`, where: worker.place };
      }
    }
  }
}

function wrongStart(worker: Worker, callId: string, { agents }: WorkstreamOnDisk): string | undefined {
  const started = agents.filter(
    ({ row }) =>
      row.run_id === worker.run.run_id &&
      row.parent_id === (worker.agent?.row.agent_id ?? '') &&
      row.call_id === callId,
  );
  if (started.length > 1) return `started ${started.length} sub-agents`;
  return wrongResult(resultFor(worker, callId), started[0]);
}

/** Each sub-agent was started by a call of its run, or of another one of the same run. */
function* strangeParents(workstream: WorkstreamOnDisk): Generator<Finding> {
  const { wsId, agents } = workstream;
  const workers = workersOf(workstream);
  for (const { row } of agents) {
    const parent = workers.find(
      ({ run, agent }) => run.run_id === row.run_id && (agent?.row.agent_id ?? '') === row.parent_id,
    );
    const isCalled = parent && callsBy(parent).some(({ id, name }) => id === row.call_id && name === 'task');
    if (!isCalled) yield { what: `${row.agent_id} was started by no call`, where: wsId };
  }
}

function wrongResult(
  result: { output: string; outcome: string } | undefined,
  agent: AgentOnDisk | undefined,
): string | undefined {
  if (!result) return undefined;
  const [, id] = /"agent_id":"([^"]+)"/.exec(result.output) ?? [];
  if (id === undefined) return result.outcome === 'done' ? 'is done without a sub-agent' : undefined;
  if (id !== agent?.row.agent_id) return `has the result of ${id}, but started ${agent?.row.agent_id ?? 'none'}`;
  const { outcome } = agent.state;
  return result.output.includes(`"outcome":"${outcome}"`) ? undefined : `does not say that its sub-agent is ${outcome}`;
}

/** No sub-agent works after the end of its run, or after the one that started it. */
export function* agentsEndFirst({ disk }: Evidence): Generator<Finding> {
  for (const workstream of disk.workstreams) {
    for (const agent of workstream.agents) {
      const what = wrongOrder(agent, workstream);
      if (what !== undefined) yield { what: `${agent.row.agent_id} ${what}`, where: workstream.wsId };
    }
  }
}

function wrongOrder({ row, state }: AgentOnDisk, { runs, agents }: WorkstreamOnDisk): string | undefined {
  const endedMs = runs.find(({ run }) => run.run_id === row.run_id)?.run.ended_ms ?? undefined;
  const parent = agents.find((agent) => agent.row.agent_id === row.parent_id);
  const isLeft = endedMs !== undefined || parent?.state.state === 'ended';
  if (isLeft && state.state !== 'ended') return 'is left by its parent';
  const lateMs = (state.ended_ms ?? 0) - (endedMs ?? Number.POSITIVE_INFINITY);
  return lateMs > 0 ? `ended ${lateMs} ms after its run` : undefined;
}

/** The messages of a sub-agent are numbered without gaps, and the first one is its task. */
export function* denseAgentMessages({ disk }: Evidence): Generator<Finding> {
  for (const { wsId, agents } of disk.workstreams) {
    for (const { row, messages } of agents) {
      const gap = messages.findIndex(({ seq }, index) => seq !== index + 1);
      if (gap >= 0) yield { what: `${row.agent_id} has no message ${gap + 1}`, where: wsId };
      if (messages[0]?.message.role !== 'user') yield { what: `${row.agent_id} has no task`, where: wsId };
    }
  }
}
