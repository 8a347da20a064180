import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { createGuardedBytes } from '../guard/guarded-bytes.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import { withDeadline } from '../process/deadline.ts';
import { createOutputCollector } from '../process/output.ts';
import { StopReason } from '../stop-reason.ts';
import { CallInterrupted } from '../subagents/call-interrupted.ts';
import { outcomeOf, toStopLine } from '../tools/stop-line.ts';
import type { ToolOutcome, ToolRun } from '../tools/tool.ts';
import { ConsentProblem, toEnvelope } from './accounts/consent-problem.ts';
import { exchange } from './asking/exchange.ts';
import { type ReadAnswer, toFramed } from './call-result.ts';
import type { ServerAnswer, ServerCall, ServerReply } from './session.ts';
import { ServerProblem } from './tool-server.ts';

export interface CallDeps {
  guard: OutputGuard;
  /** The folder for answers that are too long to show. */
  outputs: string;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
}

/** A request to a server, as a call of the agent. */
export interface CalledTool extends Pick<ServerCall, 'method' | 'params'> {
  server: string;
  wsId: string;
  callId: string;
  timeoutSecs: number;
  send(call: ServerCall): Promise<ServerReply>;
  /** What the model reads of the answer. */
  read(answer: ServerAnswer): ReadAnswer;
}

const MOST_PROGRESS = 200;

/**
 * Calls a server within its time limit, in which the time that a person takes for its questions does not count. What it
 * answers is data that nobody trusts, also if it fails.
 */
export async function callTool(called: CalledTool, run: ToolRun, deps: CallDeps): Promise<ToolOutcome> {
  const { server, timeoutSecs } = called;
  using deadline = withDeadline(run.signal, { clock: deps.clock, ms: timeoutSecs * 1_000 });
  let lines = 0;
  const notShown = new Set<string>();
  const onProgress = (line: string) => {
    lines += 1;
    if (lines <= MOST_PROGRESS) run.onOutput(`${deps.guard.clean(line)}\n`);
  };
  try {
    const onRefused = (why: string) => notShown.add(why);
    const answer = await exchange({ ...called, onProgress, onRefused, run, deadline, clock: deps.clock });
    return await show(answer, { called, run, deps, notShown });
  } catch (error) {
    if (error instanceof CallInterrupted) throw error;
    if (error instanceof StopReason)
      return { output: `${toStopLine(error, timeoutSecs)} ${WHAT_THEN}`, outcome: outcomeOf(error) };
    if (error instanceof ConsentProblem) return toConsentOutcome(error);
    if (!(error instanceof ServerProblem)) return refused(server, wordsOf(error));
    return error.mayHaveActed
      ? { output: `The tool server ${server} ${error.message}. ${WHAT_THEN}`, outcome: 'unknown' }
      : { output: `Nothing was called: the tool server ${server} ${error.message}.`, outcome: 'failed' };
  }
}

/** Written by the daemon alone, so it needs no frame. */
export const toConsentOutcome = (problem: ConsentProblem): ToolOutcome => ({
  output: toEnvelope(problem),
  outcome: 'failed',
});

const WHAT_THEN = 'It is unknown what the call has done until then.';
const MOST_ERROR = 2_000;

/** The words of an error are the server's, too. */
const refused = (server: string, words: string): ToolOutcome => ({
  output: toFramed(server, `Error: ${words.slice(0, MOST_ERROR)}`),
  outcome: 'failed',
});

interface Shown {
  called: CalledTool;
  run: ToolRun;
  deps: CallDeps;
  /** Why questions of the server were not shown. */
  notShown: ReadonlySet<string>;
}

/** The whole text is kept if it is too long to show, and passes the guard first. */
async function show(answer: ServerAnswer, { called, run, deps, notShown }: Shown): Promise<ToolOutcome> {
  const { text, images, isError } = called.read(answer);
  const said = [...notShown].map((why) => `[A question of the server was not shown to the person: ${why}.]`);
  await using output = createOutputCollector({
    folder: deps.outputs,
    name: deps.ids.id('out'),
    callId: called.callId,
    onChunk: () => undefined,
    limits: { maxBytes: run.maxOutputBytes },
  });
  const guarded = deps.guard.open();
  const bytes = createGuardedBytes(guarded);
  await output.write(
    bytes.write(Buffer.from(toFramed(called.server, [text === '' ? '[no content]' : text, ...said].join('\n')))),
  );
  await output.write(bytes.end());
  const shown = await output.finish();
  const kept = output.kept();
  return {
    output: shown,
    outcome: isError ? 'failed' : 'done',
    guarded,
    ...(kept && { kept }),
    ...(images.length > 0 && { images }),
  };
}
