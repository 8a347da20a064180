import type { Step } from '../run/recorder.ts';
import type { RunContext } from '../run/run-context.ts';
import type { Prefix } from './prefix.ts';
import type { Surroundings } from './surroundings.ts';

/** A machine on which nothing ever changes. */
const SURROUNDINGS: Surroundings = {
  look: async () => ({ date: '2026-11-23', zone: 'Europe/Berlin', instructions: { files: [], untrusted: [] } }),
};

/** The fields of a run about the beginning of its requests, as its steps have left them. */
export function beginningOf(
  steps: readonly Step[],
  {
    prefix: first,
    surroundings = SURROUNDINGS,
    templates = async () => '',
  }: { prefix?: Prefix; surroundings?: Surroundings; templates?(): Promise<string> },
): Pick<RunContext, 'prefix' | 'surroundings' | 'templates' | 'trust'> {
  const decided = (isTrusted: boolean) =>
    steps.flatMap(({ trust }) => (trust?.isTrusted === isTrusted ? trust.folders : []));
  return {
    prefix() {
      const last = steps.findLast((step) => step.prefix !== undefined || step.cut !== undefined);
      return last ? last.prefix : first;
    },
    surroundings,
    templates: { nodeId: 'node', read: templates },
    trust: { read: async () => ({ trusted: decided(true), declined: decided(false) }) },
  };
}
