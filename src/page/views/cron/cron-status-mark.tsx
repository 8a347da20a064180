import type { CronStatus } from '../../../../protocol/cron.ts';
import type { OpenStatus } from '../../state/cron/cron-runs.ts';
import { Icon, type IconName } from '../icons.tsx';

type Shown = CronStatus | OpenStatus;

const MARKS: Record<Shown, { icon: IconName; word: string }> = {
  ok: { icon: 'check', word: 'ok' },
  error: { icon: 'cross', word: 'failed' },
  skipped: { icon: 'chevron', word: 'skipped' },
  missed: { icon: 'warning', word: 'missed' },
  interrupted: { icon: 'stop', word: 'interrupted' },
  running: { icon: 'play', word: 'running' },
  retrying: { icon: 'clock', word: 'waiting to retry' },
  due: { icon: 'clock', word: 'queued' },
};

interface CronStatusMarkProps {
  status: Shown;
  /** Replaces the default word of the status. */
  words?: string;
  after?: string;
}

/** The status of a run, as an icon and a word. */
export function CronStatusMark({ status, words, after = '' }: CronStatusMarkProps) {
  const { icon, word } = MARKS[status];
  return (
    <span class={`cron-status ${status}`}>
      <Icon name={icon} />
      <span>
        {words ?? word}
        {after}
      </span>
    </span>
  );
}
