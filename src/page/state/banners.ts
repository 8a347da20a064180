import type { ConnectionStatus } from '../../../protocol/client/ws-client.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { isModelTrouble } from '../../../protocol/model-trouble.ts';
import type { AutoApprove } from './conversation/conversation.ts';
import { toClock } from './text/moment.ts';

/** A notice across the page. */
export interface Banner {
  id: string;
  level: 'info' | 'warning' | 'error';
  text: string;
  /** The button of the banner. */
  action?: 'retry' | 'ask-again' | 'reload';
}

interface Situation {
  connection: ConnectionStatus;
  /** True from the loss of the connection until it is back. */
  lost: boolean;
  /** The page was served by another version of the daemon. */
  isOutdated: boolean;
  health: HealthSummary | undefined;
  autoApprove: AutoApprove | undefined;
  nowMs: number;
  timeZone: string;
}

/** The banners to show, the most urgent first. */
export function toBanners(situation: Situation): Banner[] {
  const { connection, lost, isOutdated, health } = situation;
  const disconnected = connectionBanners(connection, lost);
  if (disconnected.length > 0) return disconnected; // the other facts may be out of date
  return [
    ...storeBanners(health),
    ...approvalBanners(situation),
    ...modelBanners(health),
    ...sandboxBanners(health),
    ...versionBanners(isOutdated),
  ];
}

function connectionBanners(connection: ConnectionStatus, lost: boolean): Banner[] {
  switch (connection.kind) {
    case 'open':
      return [];
    case 'connecting':
    case 'waiting':
      if (!lost) return [];
      return [
        {
          id: 'connection',
          level: 'warning',
          text: 'Disconnected. Nothing is lost; the page reconnects automatically.',
          action: 'retry',
        },
      ];
    case 'closed':
      return [
        {
          id: 'connection',
          level: 'error',
          text: `Disconnected: ${connection.error?.message ?? 'closed'}.`,
          action: 'reload',
        },
      ];
  }
}

function storeBanners(health: HealthSummary | undefined): Banner[] {
  if (health?.store.status !== 'degraded') return [];
  const { reason, damaged } = health.store;
  const why = reason ? ` (${reason})` : '';
  const text = damaged
    ? `Some stored data cannot be read${why}. Everything else works; run headgate doctor for details.`
    : `Headgate cannot save data${why}. It refuses messages until saving works again.`;
  return [{ id: 'store', level: 'error', text }];
}

function approvalBanners({ autoApprove, nowMs, timeZone }: Situation): Banner[] {
  if (!autoApprove?.isOn) return [];
  const { untilMs } = autoApprove;
  // Rounded down to minutes, as the daemon's clock may differ by seconds.
  const until = untilMs === undefined ? '' : ` until ${toClock(toMinute(untilMs), { nowMs, timeZone })}`;
  const text = `This workstream runs every tool without asking${until}.`;
  return [{ id: 'auto-approve', level: 'warning', text, action: 'ask-again' }];
}

const toMinute = (ms: number) => ms - (ms % 60_000);

function modelBanners(health: HealthSummary | undefined): Banner[] {
  if (!health) return [];
  const notices = health.notices.map(({ code, level, text }, index, all): Banner => {
    // Counted per code, so that a notice keeps its id when another one ends.
    const earlier = all.slice(0, index).filter((other) => other.code === code).length;
    return { id: `${code}${earlier}`, level, text };
  });
  if (health.backend.status === 'up' || health.notices.some(isModelTrouble)) return notices;
  return [
    ...notices,
    { id: 'backend', level: 'warning', text: `The model ${health.model} cannot be reached at the moment.` },
  ];
}

const versionBanners = (isOutdated: boolean): Banner[] =>
  isOutdated
    ? [
        {
          id: 'version',
          level: 'info',
          text: 'Headgate has been updated. Reload to get the new page; drafts are kept.',
          action: 'reload',
        },
      ]
    : [];

function sandboxBanners(health: HealthSummary | undefined): Banner[] {
  if (!health || health.sandbox.active) return [];
  const reason = health.sandbox.reason ? `: ${health.sandbox.reason}` : '';
  return [
    {
      id: 'sandbox',
      level: 'warning',
      text: `Shell commands run without a sandbox${reason}. Read commands before you approve them.`,
    },
  ];
}
