import { useSignal, useSignalEffect } from '@preact/signals';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { Desk } from '../state/app.ts';
import type { Tab } from '../state/tab.ts';
import { Icon } from './icons.tsx';

/** How long after the first press a second one forces. */
const FORCE_WINDOW_MS = 3_000;

/** Stops the run; pressed again soon, it abandons a worker that does not let go. */
export function StopButton({ desk, tab }: { desk: Desk; tab: Tab }) {
  const pressed = useSignal(false);
  useSignalEffect(() => {
    if (!pressed.value) return;
    return systemTimers.after(FORCE_WINDOW_MS, () => {
      pressed.value = false;
    });
  });
  const stop = () => {
    const force = pressed.peek();
    pressed.value = !force;
    void desk.actions.cancel(tab, force);
  };
  return (
    <button
      type="button"
      class={`stop ${pressed.value ? 'force' : ''}`}
      title={pressed.value ? 'Abandon the worker without waiting for it' : 'Stop what runs'}
      onClick={stop}
    >
      <Icon name="stop" />
      {pressed.value ? 'Force stop' : 'Stop'}
    </button>
  );
}
