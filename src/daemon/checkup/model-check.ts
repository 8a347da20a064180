import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { isModelTrouble } from '../../../protocol/model-trouble.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { findLocalServer } from '../../agent/providers/discovery.ts';
import { checkModel } from '../../agent/providers/model-check.ts';
import { chooseDefault, DEMO } from '../../agent/providers/model-choice.ts';
import { systemClock } from '../../clock.ts';
import { createGuardedEgress } from '../../egress/guarded-egress.ts';
import { isListening } from '../../egress/listening.ts';
import type { Config } from '../config/config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const DEMO_FINDING = warning(
  'model',
  'the built-in demo answers, which is not a language model',
  'Set OPENAI_BASE_URL or a key such as ANTHROPIC_API_KEY, or name a model in config.json.',
);
const MEND = 'Check the address, the key and the model’s name (docs/configuration.md).';

/** The state of the model according to the running daemon. */
export function toModelFinding({ model, modelAlias, backend, notices }: HealthSummary): Finding {
  if (modelAlias === 'demo') return DEMO_FINDING;
  const notice = notices.find(isModelTrouble);
  if (notice !== undefined) return problem('model', notice.text, MEND);
  if (backend.status === 'down') return problem('model', `${model} cannot be reached at the moment`, MEND);
  return ok('model', `${model}, according to the daemon`);
}

/** Asks the provider, as a daemon that starts now would. */
export async function askModel(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Finding> {
  const { fetch } = createGuardedEgress({ privateHosts: () => config.egress.privateHosts, environment });
  const asking = { fetch, listens: isListening, clock: systemClock, signal: new AbortController().signal };
  try {
    const known = { config, environment, wanted: environment.HEADGATE_MODEL || undefined };
    const choice = chooseDefault(known) ?? chooseDefault({ ...known, localUrl: await findLocalServer(asking) }) ?? DEMO;
    if (choice.provider === 'demo') return DEMO_FINDING;
    const modelId = await checkModel(choice, asking);
    return ok('model', `${modelId} of ${choice.provider} can be reached`);
  } catch (error) {
    return problem('model', wordsOf(error), MEND);
  }
}
