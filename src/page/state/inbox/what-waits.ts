import { computed, type ReadonlySignal } from '@preact/signals';
import { type Tab, tabState } from '../tab.ts';

interface Counted {
  workstreams: { tabs: ReadonlySignal<readonly Tab[]> };
  inbox: { count: ReadonlySignal<number> };
  nodes: { waiting: ReadonlySignal<number> };
  others: { count: ReadonlySignal<number> };
}

/**
 * The number in the title of the page, on the icon of the app and beside the inbox. A workstream may ask several questions at
 * once; those of people who do not decide about questions are counted by workstreams.
 */
export const whatWaits = ({ workstreams, inbox, nodes, others }: Counted): ReadonlySignal<number> =>
  computed(() => {
    const asking = workstreams.tabs.value.filter((tab) => tabState(tab) === 'attention').length;
    return Math.max(asking, inbox.count.value) + nodes.waiting.value + others.count.value;
  });
