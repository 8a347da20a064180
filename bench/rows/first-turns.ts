import { median } from '../row.ts';
import type { Stage } from '../stage.ts';
import type { openRelays } from './relay.ts';

/** Measures the first turns of a new conversation, with the anchor's for comparison. */
export function firstTurns({ quick }: Stage, { product, anchor }: Awaited<ReturnType<typeof openRelays>>) {
  const count = quick ? 20 : 100;
  const p50 = async ({ model, target, startAfresh }: typeof product) => {
    await startAfresh();
    return median(await model.ask('turns', { ...target, count }));
  };
  return async () => {
    const figures = { product: await p50(product), anchor: await p50(anchor) };
    return { value: figures.product, figures };
  };
}
