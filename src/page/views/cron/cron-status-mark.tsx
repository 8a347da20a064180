import type { RunStatus } from '../../../../protocol/run-status.ts';
import { Icon, type IconName } from '../icons.tsx';

const ICONS: Record<RunStatus, IconName> = {
  ok: 'check',
  error: 'cross',
  skipped: 'chevron',
  missed: 'warning',
  interrupted: 'stop',
  running: 'play',
  retrying: 'clock',
  due: 'clock',
};

interface CronStatusMarkProps {
  status: RunStatus;
  /** Replaces the word of the status. */
  words?: string;
  after?: string;
}

/** The status of a run, as an icon and a word. */
export function CronStatusMark({ status, words, after = '' }: CronStatusMarkProps) {
  return (
    <span class={`cron-status ${status}`}>
      <Icon name={ICONS[status]} />
      <span>
        {words ?? status}
        {after}
      </span>
    </span>
  );
}
