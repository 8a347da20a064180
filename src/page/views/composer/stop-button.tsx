import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';
import { isCovered } from '../overlay.ts';

/** Maximum time between two presses that belong together. */
const AGAIN_MS = 3_000;

/**
 * `armed`: Escape was pressed once. `pressed`: the run was told to stop; the next press abandons a run that does not
 * stop.
 */
type Step = 'ready' | 'armed' | 'pressed';
const LABELS: Record<Step, string> = { ready: 'Stop', armed: 'Esc again to stop', pressed: 'Force stop' };
const TITLES: Record<Step, string> = {
  ready: 'Stop the run (Esc twice)',
  armed: 'Stop the run',
  pressed: 'Abandon the run without waiting for it to stop',
};

/**
 * Stops the run on a click or on Escape pressed twice, so that a stray key stops nothing. A second press soon after
 * forces the stop.
 */
export function StopButton({ desk, tab }: { desk: Desk; tab: Tab }) {
  const step = useSignal<Step>('ready');
  useSignalEffect(() => {
    if (step.value === 'ready') return;
    return systemTimers.after(AGAIN_MS, () => {
      step.value = 'ready';
    });
  });
  const stop = () => {
    const force = step.peek() === 'pressed';
    step.value = force ? 'ready' : 'pressed';
    void desk.actions.cancel(tab, force);
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.repeat || event.defaultPrevented || isCovered()) return;
      if (step.peek() === 'armed') stop();
      else if (step.peek() === 'ready') step.value = 'armed';
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [desk, tab]);
  return (
    <button
      type="button"
      class={`stop ${step.value === 'pressed' ? 'force' : step.value}`}
      title={TITLES[step.value]}
      onClick={stop}
    >
      <Icon name="stop" />
      <span aria-live="polite">{LABELS[step.value]}</span>
    </button>
  );
}
