import { GatewayError } from '../../../protocol/errors.ts';
import type { OutputChecks, OutputSchema } from '../../agent/output/answer-checks.ts';
import type { Call } from '../call.ts';

/** Refuses a schema that no answer can be checked against, before anything is created for the message. */
export async function requireUsable(
  schema: OutputSchema | undefined,
  { signal }: Pick<Call, 'signal'>,
  outputChecks: Pick<OutputChecks, 'problemOf'>,
): Promise<void> {
  const problem = schema && (await outputChecks.problemOf(schema, signal));
  if (problem === undefined) return;
  throw new GatewayError('INVALID_REQUEST', `outputSchema cannot be used: ${problem}`);
}
