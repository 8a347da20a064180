import type { OutputError } from '../../../protocol/run-outcome.ts';
import type { CheckedOutput } from '../output/answer-checks.ts';
import type { RunOutput } from '../output/asked-output.ts';
import { MAX_OUTPUT_RETRIES, refusalMessage } from '../output/output-step.ts';
import type { RunContext } from './run-context.ts';

/**
 * Checks the last answer against the schema of the request. Undefined if it does not fit and the model is asked again,
 * which is recorded.
 */
export async function settleOutput(
  run: RunContext,
  output: RunOutput,
  text: string,
): Promise<CheckedOutput | undefined> {
  if (run.progress.isOutputRefused) return undefined; // before a restart
  const checked = await output.check(text, run.signal);
  run.signal.throwIfAborted();
  if (checked.fits || run.progress.outputRefusals >= MAX_OUTPUT_RETRIES) return checked;
  await run.recorder.record({
    events: [{ type: 'info', message: `${misfitText(checked.errors)} The model is asked again.` }],
    messages: [refusalMessage(output, checked.errors)],
    journal: [{ kind: 'output_refused' }],
  });
  return undefined;
}

/** What people read about an answer that does not fit. */
export function misfitText(errors: readonly OutputError[]): string {
  const shown = errors.slice(0, 3).map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
  const more = errors.length > shown.length ? `, and ${errors.length - shown.length} more` : '';
  return `The answer does not fit the JSON Schema of the request: ${shown.join(', ')}${more}.`;
}
