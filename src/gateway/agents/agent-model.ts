import { GatewayError } from '../../../protocol/errors.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { LiveRun } from '../runs/live-run.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { chosenModel } from './chosen-model.ts';

/** The alias of the model of a sub-agent: its own, or that of the run. */
export const modelOfAgent = (
  { task }: { task: { model?: string | undefined } },
  { live, data }: { live: Pick<LiveRun, 'progress'>; data: Pick<WorkstreamData, 'modelAlias'> },
): string | undefined => task.model ?? chosenModel(live, data);

/**
 * A sub-agent may have any model of the same maker: another one would get what the conversation holds, which no person
 * has chosen.
 */
export async function whyNotModel(
  alias: string,
  { own: ownAlias, models }: { own: string | undefined; models: Pick<Models, 'resolve' | 'list'> },
): Promise<string | undefined> {
  const own = await models.resolve(ownAlias);
  const found = await models.resolve(alias).catch((error: unknown) => {
    if (error instanceof GatewayError) return undefined;
    throw error;
  });
  if (found?.family === own.family) return undefined;
  const others: string[] = [];
  for (const { alias: name } of models.list()) {
    const other = await models.resolve(name).catch(() => undefined); // one that is not available now
    if (other?.family === own.family) others.push(other.alias);
  }
  const problem = found ? `The model ${alias} is of another maker than yours` : `There is no model ${alias}`;
  return `${problem}. Models for sub-agents: ${[...new Set([own.alias, ...others])].join(', ')}.`;
}
