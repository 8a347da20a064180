import type { ConnectionStatus } from '../../../protocol/client/ws-client.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { type HealthProblem, healthProblems } from '../../../protocol/text/health-words.ts';
import type { FailedLogout } from './accounts/own-login.ts';
import type { ConsentResult } from './consents/consent-result.ts';
import type { AutoApprove } from './conversation/conversation.ts';
import { toClock } from './text/moment.ts';

/** A notice across the page. */
export interface Banner {
  id: string;
  level: 'info' | 'warning' | 'error';
  text: string;
  /** By what a browser remembers that it was hidden; absent if it returns at each reload. */
  keptAs?: string;
  /** The button of the banner. */
  action?: 'retry' | 'ask-again' | 'reload';
}

interface Situation {
  failedLogout: FailedLogout | undefined;
  connection: ConnectionStatus;
  /** True from the loss of the connection until it is back. */
  lost: boolean;
  /** The page was served by another version of the daemon. */
  isOutdated: boolean;
  /** How a consent at the provider of a tool server ended. */
  consent: ConsentResult | undefined;
  health: HealthSummary | undefined;
  autoApprove: AutoApprove | undefined;
  nowMs: number;
  timeZone: string;
}

/** The banners to show, the most urgent first. */
export function toBanners(situation: Situation): Banner[] {
  const { connection, lost, isOutdated, health } = situation;
  const logout = logoutBanners(situation);
  const disconnected = connectionBanners(connection, lost);
  if (disconnected.length > 0) return [...logout, ...disconnected]; // the other facts may be out of date
  const problems = health === undefined ? [] : healthProblems(health);
  const [stored, others] = [problems.filter(isStore), problems.filter((problem) => !isStore(problem))];
  return [
    ...logout,
    ...stored.map(toProblemBanner),
    ...consentBanners(situation),
    ...approvalBanners(situation),
    ...noticeBanners(health),
    ...others.map(toProblemBanner),
    ...versionBanners(isOutdated),
  ];
}

const logoutBanners = ({ failedLogout }: Situation): Banner[] =>
  failedLogout === undefined ? [] : [{ id: `logout${failedLogout.nth}`, level: 'warning', text: failedLogout.text }];

const isStore = ({ part }: HealthProblem): boolean => part === 'store';

const toProblemBanner = ({ part, text }: HealthProblem): Banner => ({
  id: part,
  level: part === 'store' ? 'error' : 'warning',
  text,
});

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

const consentBanners = ({ consent }: Situation): Banner[] =>
  consent === undefined ? [] : [{ id: 'consent', level: consent.isProblem ? 'warning' : 'info', text: consent.text }];

function approvalBanners({ autoApprove, nowMs, timeZone }: Situation): Banner[] {
  if (!autoApprove?.isOn) return [];
  const { untilMs } = autoApprove;
  // Rounded down to minutes, as the daemon's clock may differ by seconds.
  const until = untilMs === undefined ? '' : ` until ${toClock(toMinute(untilMs), { nowMs, timeZone })}`;
  const text = `This workstream runs every call without asking${until}.`;
  return [{ id: 'auto-approve', level: 'warning', text, action: 'ask-again' }];
}

const toMinute = (ms: number) => ms - (ms % 60_000);

function noticeBanners(health: HealthSummary | undefined): Banner[] {
  if (health === undefined) return [];
  const { notices, nodeId, model } = health;
  return notices.map(({ code, level, text }, index, all): Banner => {
    // Counted per code, so that a notice keeps its id when another one ends.
    const earlier = all.slice(0, index).filter((other) => other.code === code).length;
    const kept = level === 'info' && { keptAs: JSON.stringify([nodeId, model, text]) };
    return { id: `${code}${earlier}`, level, text, ...kept };
  });
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
