import { type Tab, tabState } from '../tab.ts';

/** A tab in the list: the workstreams of a coordinator stand below it. */
export interface ListedTab {
  tab: Tab;
  /** How many coordinators are above it. */
  depth: number;
  /** Of a coordinator: everything below it that is open. */
  below: number;
  /** What is below it is not shown, except for what asks a person or is in front. */
  isFolded: boolean;
}

/** With more than these, a coordinator is folded until a person opens it. */
export const USUALLY_SHOWN = 8;

interface Choice {
  /** What a person has folded (true) or opened, by the ids of coordinators. */
  folds: ReadonlyMap<string, boolean>;
  front: string | undefined;
}

/** The tabs in the order in which they are listed. */
export function arrangeTabs(tabs: readonly Tab[], { folds, front }: Choice): ListedTab[] {
  const ids = new Set(tabs.map(({ wsId }) => wsId));
  const parentOf = ({ wsId, row }: Tab): string | undefined => {
    const { parentWsId } = row.value;
    return parentWsId !== undefined && parentWsId !== wsId && ids.has(parentWsId) ? parentWsId : undefined;
  };
  const children = Map.groupBy(tabs, parentOf);
  const countBelow = (wsId: string): number =>
    (children.get(wsId) ?? []).reduce((sum, child) => sum + 1 + countBelow(child.wsId), 0);
  const list = (tab: Tab, depth: number, isHidden: boolean): ListedTab[] => {
    const below = countBelow(tab.wsId);
    const isFolded = folds.get(tab.wsId) ?? below > USUALLY_SHOWN;
    const own = (children.get(tab.wsId) ?? []).flatMap((child) => list(child, depth + 1, isHidden || isFolded));
    const isShown = !isHidden || tab.wsId === front || tabState(tab) === 'attention';
    return isShown ? [{ tab, depth, below, isFolded }, ...own] : own;
  };
  return (children.get(undefined) ?? []).flatMap((tab) => list(tab, 0, false));
}
