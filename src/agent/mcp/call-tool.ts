import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { createGuardedBytes } from '../guard/guarded-bytes.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import { withDeadline } from '../process/deadline.ts';
import { createOutputCollector } from '../process/output.ts';
import { StopReason } from '../stop-reason.ts';
import { outcomeOf, toStopLine } from '../tools/stop-line.ts';
import type { ToolOutcome, ToolRun } from '../tools/tool.ts';
import { ConsentProblem, toEnvelope } from './accounts/consent-problem.ts';
import { readAnswer, toFramed } from './call-result.ts';
import type { ServerCall, ToolAnswer } from './session.ts';
import { ServerProblem } from './tool-server.ts';

export interface CallDeps {
  guard: OutputGuard;
  /** The folder for answers that are too long to show. */
  outputs: string;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
}

export interface CalledTool {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  wsId: string;
  callId: string;
  timeoutSecs: number;
  send(call: ServerCall): Promise<ToolAnswer>;
}

const MOST_PROGRESS = 200;

/** Calls a tool of a server within its time limit. What it answers is data that nobody trusts, also if it fails. */
export async function callTool(called: CalledTool, run: ToolRun, deps: CallDeps): Promise<ToolOutcome> {
  const { server, tool, args, wsId, timeoutSecs } = called;
  using deadline = withDeadline(run.signal, { clock: deps.clock, ms: timeoutSecs * 1_000 });
  let lines = 0;
  const onProgress = (line: string) => {
    lines += 1;
    if (lines <= MOST_PROGRESS) run.onOutput(`${deps.guard.clean(line)}\n`);
  };
  try {
    const answer = await called.send({ tool, args, wsId, signal: deadline.signal, onProgress });
    return await show(answer, { called, run, deps });
  } catch (error) {
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
}

/** The whole text is kept if it is too long to show, and passes the guard first. */
async function show(answer: ToolAnswer, { called, run, deps }: Shown): Promise<ToolOutcome> {
  const { text, images } = readAnswer(answer);
  await using output = createOutputCollector({
    folder: deps.outputs,
    name: deps.ids.id('out'),
    callId: called.callId,
    onChunk: () => undefined,
    limits: { maxBytes: run.maxOutputBytes },
  });
  const guarded = deps.guard.open();
  const bytes = createGuardedBytes(guarded);
  await output.write(bytes.write(Buffer.from(toFramed(called.server, text === '' ? '[no content]' : text))));
  await output.write(bytes.end());
  const shown = await output.finish();
  const kept = output.kept();
  return {
    output: shown,
    outcome: answer.isError ? 'failed' : 'done',
    guarded,
    ...(kept && { kept }),
    ...(images.length > 0 && { images }),
  };
}
