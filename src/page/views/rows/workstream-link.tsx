import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Desk } from '../../state/app.ts';
import { tabName } from '../../state/tab.ts';

/** The name of a workstream, which opens its conversation; of a closed one, the beginning of its id. */
export function WorkstreamLink({ desk, wsId }: { desk: Desk; wsId: string }) {
  const tab = desk.workstreams.tabs.value.find((one) => one.wsId === wsId);
  if (tab === undefined) return <>{`the closed workstream ${wsId.slice(0, 8)}`}</>;
  return (
    <button type="button" class="quiet link" onClick={() => void desk.workstreams.show(wsId)}>
      {toVisibleLine(tabName(tab))}
      <span class="hidden-text">: open the conversation</span>
    </button>
  );
}
