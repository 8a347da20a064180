import type { Message } from '../../src/agent/message.ts';
import type { AgentOnDisk, RunOnDisk, WorkstreamOnDisk } from './evidence.ts';

type ToolMessage = Extract<Message, { role: 'tool' }>;

/** Whoever makes tool calls: a run, or a sub-agent of one. */
export interface Worker {
  /** For findings. */
  place: string;
  /** The run that it belongs to. */
  run: RunOnDisk['run'];
  /** Missing for a run. */
  agent?: AgentOnDisk;
  journal: RunOnDisk['journal'];
  results: ToolMessage[];
  isOver: boolean;
}

export function workersOf({ wsId, runs, agents, messages }: WorkstreamOnDisk): Worker[] {
  const results = Map.groupBy(messages, ({ runId }) => runId);
  const ofRuns = runs.map(
    ({ run, journal }): Worker => ({
      place: `${wsId} ${run.run_id}`,
      run,
      journal,
      results: (results.get(run.run_id) ?? []).flatMap(({ message }) => toResult(message)),
      isOver: run.ended_ms !== null,
    }),
  );
  const ofAgents = agents.flatMap((agent): Worker[] => {
    const run = runs.find(({ run: of }) => of.run_id === agent.row.run_id)?.run;
    if (!run) return [];
    return [
      {
        place: `${wsId} ${agent.row.agent_id}`,
        run,
        agent,
        journal: agent.journal,
        results: agent.messages.flatMap(({ message }) => toResult(message)),
        // A forced cancel leaves calls without results.
        isOver: agent.end !== undefined,
      },
    ];
  });
  return [...ofRuns, ...ofAgents];
}

const toResult = (message: Message): ToolMessage[] => (message.role === 'tool' ? [message] : []);

/** The calls of its model. */
export const callsBy = ({ journal }: Pick<Worker, 'journal'>) =>
  journal.flatMap((entry) => (entry.kind === 'model_answered' ? entry.calls : []));

/** The result of a call; undefined if it has none, or if several calls have this id. */
export function resultFor(worker: Worker, callId: string): ToolMessage | undefined {
  const calls = callsBy(worker).filter(({ id }) => id === callId);
  return calls.length === 1 ? worker.results.find((message) => message.callId === callId) : undefined;
}
