import type { HealthSummary } from '../methods/health.ts';
import { isModelTrouble } from '../model-trouble.ts';

/** A part of the daemon that does not work as it should. */
export interface HealthProblem {
  part: 'store' | 'backend' | 'sandbox';
  text: string;
}

type Judged = Pick<HealthSummary, 'store' | 'backend' | 'sandbox' | 'model' | 'notices'>;

/** A sentence for each problem that no notice explains, the most urgent first. */
export function healthProblems({ store, backend, sandbox, model, notices }: Judged): HealthProblem[] {
  const problems: HealthProblem[] = [];
  if (store.status === 'degraded') problems.push({ part: 'store', text: toStoreWords(store) });
  if (backend.status === 'down' && !notices.some(isModelTrouble))
    problems.push({ part: 'backend', text: `The model ${model} cannot be reached at the moment.` });
  if (!sandbox.active) {
    const text = `Shell commands run without a sandbox${because(sandbox.reason)}. Read commands before you approve them.`;
    problems.push({ part: 'sandbox', text });
  }
  return problems;
}

const toStoreWords = ({ damaged, reason }: HealthSummary['store']): string =>
  damaged === true
    ? `Some stored data cannot be read${because(reason)}. Everything else works; run headgate doctor for details.`
    : `Headgate cannot save data${because(reason)}. It refuses messages until saving works again.`;

const because = (reason: string | undefined): string => (reason === undefined || reason === '' ? '' : ` (${reason})`);
