import { useEffect, useRef } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { NOTIFY } from '../parts/parts.ts';
import { sound } from './sound.ts';

/** What waits is counted on the icon of the app, and, if the person chose it, heard when it becomes more. */
export function useSignals(app: App): void {
  const waiting = app.waiting.value;
  const before = useRef(waiting);
  useEffect(() => {
    // Browsers without an icon for the page have neither.
    if (waiting > 0) navigator.setAppBadge?.(waiting).catch(() => undefined);
    else navigator.clearAppBadge?.().catch(() => undefined);
    if (waiting > before.current && sound.isOn.peek()) play();
    before.current = waiting;
  }, [app, waiting]);
}

/** A short tone. A browser in which nobody has pressed anything yet stays silent. */
function play(): void {
  const context = new AudioContext();
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.35);
  tone.connect(volume).connect(context.destination);
  tone.onended = () => void context.close();
  tone.start();
  tone.stop(context.currentTime + 0.35);
}

/** Follows notifications to their questions, and renews what this browser asked for below an earlier login. */
export function useNotifications({ app, desk }: { app: App; desk: Desk }): void {
  const isOpen = app.connection.value.kind === 'open';
  useEffect(() => {
    if (!isOpen || !localStorage.getItem('headgate.push')) return;
    renew(desk);
  }, [desk, isOpen]);
  useEffect(() => {
    const { serviceWorker } = navigator;
    if (serviceWorker === undefined) return; // plain http from another machine
    const onMessage = ({ data }: MessageEvent<{ inbox?: unknown; renew?: unknown } | undefined>) => {
      if (data?.renew === true) renew(desk);
      if (typeof data?.inbox === 'string')
        location.hash = data.inbox === '' ? 'inbox' : `inbox=${encodeURIComponent(data.inbox)}`;
    };
    serviceWorker.addEventListener('message', onMessage);
    return () => serviceWorker.removeEventListener('message', onMessage);
  }, [desk]);
}

function renew(desk: Desk): void {
  void NOTIFY.load().then(() => NOTIFY.module.peek()?.notificationsOf(desk).renew());
}
