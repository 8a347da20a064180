import type { Daemon } from './daemon-options.ts';

interface BannerFacts {
  version: string;
  home: string;
  daemon: Pick<Daemon, 'url' | 'model' | 'workdir' | 'notices' | 'notSandboxed'>;
  /** The login link; undefined if no login is required. */
  link: { url: string; expiresAtMs: number } | undefined;
  /** The command that prints another link. */
  linkCommand: string;
}

/** The text that the daemon prints when it is ready. */
export function toBanner({ version, home, daemon, link, linkCommand }: BannerFacts): string {
  const { model, workdir, notices, notSandboxed } = daemon;
  const rows: [string, string][] = [
    ['Open', link?.url ?? daemon.url],
    link
      ? ['Login', `the link works once, until ${toTime(link.expiresAtMs)}; another one: ${linkCommand}`]
      : ['Login', 'not needed (authentication is off): every program on this machine can use it'],
    ['Model', toModelText(model)],
    ['Home', home],
    ['Folder', `${workdir} (the agent works here)`],
    [
      'Sandbox',
      notSandboxed === undefined
        ? 'on: commands see the system read-only and no homes, and reach allowed hosts only'
        : `off: ${notSandboxed}`,
    ],
  ];
  const lines = rows.map(([name, text]) => `  ${name.padEnd(9)}${text}`);
  const notes = notices.map(({ text }) => `  Note     ${text}`);
  return `\nHeadgate ${version}\n\n${[...lines, ...notes].join('\n')}\n\n`;
}

interface StandbyFacts {
  version: string;
  url: string;
  active: { nodeId: string; url: string | undefined } | undefined;
}

/** The text that a standby prints while it waits. */
export function toStandbyText({ version, url, active }: StandbyFacts): string {
  const who = active
    ? `${active.nodeId}${active.url === undefined ? '' : ` at ${active.url}`} is active`
    : 'no daemon is active yet';
  return `\nHeadgate ${version}, a standby at ${url}\n\n  ${who}. This one waits, and takes over when that one ends.\n\n`;
}

/** The text that a worker prints. */
export function toWorkerText({ version, url, active }: StandbyFacts): string {
  const who = active
    ? `${active.nodeId}${active.url === undefined ? '' : ` at ${active.url}`}`
    : 'the daemon that becomes active';
  return `\nHeadgate ${version}, a worker at ${url}\n\n  It runs workstreams for ${who}, and forwards clients to it.\n\n`;
}

function toModelText({ alias, provider, modelId }: Daemon['model']): string {
  if (provider === 'demo') return 'demo (built in, no language model)';
  const name = modelId === '' ? provider : `${provider}/${modelId}`;
  return alias === name ? name : `${alias} (${name})`;
}

const toTime = (ms: number): string => new Date(ms).toTimeString().slice(0, 5);
