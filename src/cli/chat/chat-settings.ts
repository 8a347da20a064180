import type { Mode } from '../../../protocol/events/modes.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { toShownName } from '../../../protocol/text/generated-name.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { type AutoApprove, toAutoApproveLines } from './chat-header.ts';

/** How a workstream is set. */
export interface ChatSettings {
  name: string;
  model: string;
  workdir: string;
  /** What runs without asking; undefined before the first snapshot. */
  mode: Mode | undefined;
  autoApprove: AutoApprove;
}

const toAutoApprove = (isOn: boolean, untilMs: number | undefined): AutoApprove => ({ isOn, untilMs });

/** The settings of a workstream: a fold of its snapshot and events. Prints a change of auto-approve. */
export function followSettings(print: (lines: readonly string[]) => void, sheet: () => Sheet) {
  let current: ChatSettings = {
    name: '',
    model: '',
    workdir: '',
    mode: undefined,
    autoApprove: toAutoApprove(false, undefined),
  };
  let toName = (name: string): string => name;
  return {
    get current() {
      return current;
    },
    open({ workstream, model, workdir }: WorkstreamSnapshot): void {
      const autoApprove = toAutoApprove(workstream.skipPermissions, workstream.skipPermissionsUntilMs);
      const { wsId, sessionKey } = workstream;
      toName = (name) => toShownName({ wsId, sessionKey, name });
      current = { name: toName(workstream.name), model, workdir, mode: workstream.mode, autoApprove };
    },
    read(event: StreamEvent): void {
      if (event.type !== 'settings_changed') return;
      const { autoApprove: before } = current;
      const autoApprove = toAutoApprove(event.skip_permissions, event.skip_permissions_until_ms);
      const { name, model, mode = current.mode } = event;
      current = { ...current, name: toName(name), model, mode, autoApprove };
      const isNew = !before.isOn || before.untilMs !== autoApprove.untilMs;
      if (isNew) print(toAutoApproveLines(autoApprove, sheet().paint));
    },
  };
}
