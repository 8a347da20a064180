import type { Params } from '../../../protocol/index.ts';
import { type AlwaysRules, inMode } from '../workstreams/always.ts';

/** The change of what runs without asking, and its record. */
export function allowingOf(
  { autoApprove, mode }: Pick<Params<'workstream.update'>, 'autoApprove' | 'mode'>,
  principal: string,
  rules: Pick<AlwaysRules, 'grant'>,
) {
  return {
    isAny: autoApprove !== undefined || mode !== undefined,
    change: {
      ...(autoApprove !== undefined && { always: autoApprove ? rules.grant(principal) : null }),
      ...(mode !== undefined && inMode(mode, principal, rules)),
    },
    recorded: { ...(autoApprove !== undefined && { autoApprove }), ...(mode !== undefined && { mode }) },
  };
}
