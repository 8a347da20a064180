import { GatewayError } from '../../../protocol/errors.ts';
import { budgetOf, remedyFor } from '../../../protocol/text/budget-words.ts';
import { sizeOf } from '../../agent/run/limits/call-size.ts';
import type { Held } from '../../agent/run/limits/run-budget.ts';
import type { SummaryAccount } from '../../agent/run/window/run-window.ts';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';
import type { Budgets, Spender } from './budgets.ts';
import { chargeBrokenOff, forgetReservation, reserve } from './reservation-rows.ts';
import { addUsage } from './usage-rows.ts';

interface CallAccountDeps {
  store: Pick<Store, 'commit'>;
  budgets: Pick<Budgets, 'forRun'>;
  clock: Pick<Clock, 'now'>;
}

/** Counts calls to models that belong to no run. */
export interface CallAccount extends SummaryAccount {
  /** A request that broke off counts as an estimate. Call it at the end, in any case. */
  close(): Promise<void>;
}

/** No run is there to ask for more, so a used-up budget refuses the call: UNAVAILABLE. */
export function openCallAccount(
  spender: Spender,
  signal: AbortSignal,
  { store, budgets, clock }: CallAccountDeps,
): CallAccount {
  const budget = budgets.forRun(spender);
  let held: Held | undefined;
  return {
    async begin(model, { messages, system }) {
      held?.drop();
      held = undefined;
      const { provider, modelId, price } = model;
      const called = { provider, modelId, ...(price && { price }) };
      if (!budget.isLimited(called)) return;
      const size = sizeOf(messages, model, system.length);
      const found = await budget.reserve({ model: called, size: () => size }, signal);
      if (found.kind === 'exhausted')
        throw new GatewayError('UNAVAILABLE', `${budgetOf(found.question)} is used up. ${remedyFor(found.question)}`);
      held = found;
      const expected = { expected: size.expected, model: called };
      await store.commit({ statements: [reserve(spender, expected, clock.now())] });
    },
    async end(spending) {
      const statements = [addUsage(spender, spending, clock.now()), forgetReservation(spender.runId)];
      await store.commit({ statements });
      held?.drop();
      held = undefined;
    },
    async close() {
      if (!held) return;
      held.drop();
      await store.commit({ statements: chargeBrokenOff([spender.runId]) });
    },
  };
}
