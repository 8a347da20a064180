import path from 'node:path';
import type { Effect } from '../../permissions/command-reading.ts';
import type { Around } from '../assessment.ts';

/** Where an effect takes place, as far as its target tells. */
export interface Place {
  /** An absolute path without `..`. */
  path: string;
  /** Only some of the files in it, chosen by a pattern or by a variable. */
  isPart: boolean;
}

const QUOTES = /["'\\]/g;
/** The beginning of what is known only when the command runs. */
const UNKNOWN = /[*?[{$`…(]/;
/** A pattern for all files of a folder. */
const ALL = /^(\*+|\.\*|\{[*.,]+\}|\.?\[[^\]]*\]\*)(\/|$)/;

/** The place of a path; undefined if not even its folder is known. */
export function toPlace({ path: certain, target = '' }: Effect, around: Around): Place | undefined {
  if (certain !== undefined) return { path: withoutEnd(path.normalize(certain)), isPart: false };
  const text = expandHome(target.replace(QUOTES, ''), around);
  if (text === undefined || text === '') return undefined;
  const at = text.search(UNKNOWN);
  if (at < 0) return toWhole(text, around);
  const known = text.slice(0, text.lastIndexOf('/', at) + 1);
  const rest = text.slice(known.length);
  if (known === '' && /^[$`…({]/.test(rest) && !ALL.test(rest)) return undefined;
  const folder = toWhole(known === '' ? '.' : known, around);
  return folder && { path: folder.path, isPart: !ALL.test(rest) };
}

const toWhole = (text: string, { folder }: Around): Place => ({
  path: withoutEnd(path.resolve(folder, text)),
  isPart: false,
});

const withoutEnd = (text: string): string => (text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text);

/** Replaces the usual ways to write the home and the working directory. */
function expandHome(text: string, { home, folder }: Around): string | undefined {
  const rest = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)(.*)$/s.exec(text)?.[1];
  if (rest !== undefined) return home === undefined ? undefined : home + rest;
  const below = /^(?:\$PWD|\$\{PWD\}|\$\(pwd\))(?=\/|$)(.*)$/s.exec(text)?.[1];
  return below === undefined ? text : folder + below;
}

/** Whether the place is the folder, or in it. */
export const isIn = (place: string, folder: string): boolean =>
  place === folder || place.startsWith(folder === '/' ? '/' : `${folder}/`);

/** Folders of the system in which a change may end it, or change what all programs do. */
const SYSTEM = '/etc /usr /bin /sbin /lib /lib32 /lib64 /boot /root /sys /proc /System /Library /private/etc'.split(
  ' ',
);
/** Folders of the system in which services have their files. */
const SERVICES = '/var /opt /srv /run /Applications /private/var'.split(' ');
/** Folders for anybody. */
const TEMPORARY = '/tmp /var/tmp /dev/shm /private/tmp /private/var/tmp /var/folders'.split(' ');
/** All folders directly below the root, and those that hold the homes. */
const TOPS = new Set(['/', '/home', '/Users', '/mnt', '/media', '/dev', ...SYSTEM, ...SERVICES, '/tmp', '/var/tmp']);

/** What kind of folder a path is in. */
export type Area = 'roots' | 'temporary' | 'home' | 'device' | 'system' | 'services' | 'elsewhere';

/** The most specific folder counts: a working directory may be anywhere, even in /opt. */
export function areaOf(place: string, { folder, home }: Around): Area {
  if (isIn(place, folder)) return 'roots';
  if (TEMPORARY.some((one) => isIn(place, one))) return 'temporary';
  if (home !== undefined && isIn(place, home)) return 'home';
  if (isIn(place, '/dev')) return 'device';
  if (SYSTEM.some((one) => isIn(place, one))) return 'system';
  return SERVICES.some((one) => isIn(place, one)) ? 'services' : 'elsewhere';
}

/** Whether everything that matters is in it: the root, a folder of the system, a home, or what contains them. */
export const isVital = (place: string, { home }: Around): boolean =>
  TOPS.has(place) ||
  /^\/(home|Users)\/[^/]+$/.test(place) ||
  (home !== undefined && isIn(home, place)) ||
  /^\/[a-z\d]+$/.test(place);

/** Files that programs run or obey without being asked: what is written there stays in force. */
const OBEYED_AT_HOME =
  /^(\.(bash|zsh|ksh|fish|tcsh|csh)\w*|\.profile|\.login|\.logout|\.inputrc|\.pam_environment|\.xinitrc|\.xprofile|\.xsession|\.vimrc|\.emacs|\.tmux\.conf|\.gitconfig|\.npmrc|\.curlrc|\.wgetrc|\.pypirc|\.pip\/.*|\.pythonrc|\.netrc|\.gnupg\/.*|\.config\/(autostart|systemd|fish|git|environment\.d|pip|npm|nvim|plasma-workspace)\/.*|\.local\/(bin|lib|share\/(applications|systemd|dbus-1))\/.*|\.vscode\/.*|\.cargo\/(bin|config).*|\.docker\/.*|\.kube\/.*|\.aws\/.*|Library\/(LaunchAgents|Preferences)\/.*|bin\/.*)$/s;
const OBEYED_IN_PROJECTS =
  /(^|\/)(\.git\/(hooks(\/.*)?|config)|\.husky\/.*|\.vscode\/(tasks|settings|launch)\.json|\.envrc|\.devcontainer\/.*|\.github\/workflows\/.*|\.gitlab-ci\.yml|\.npmrc|\.yarnrc(\.yml)?|AGENTS\.md|CLAUDE\.md|\.claude\/.*|\.cursor\/.*|\.cursorrules|node_modules\/\.bin(\/.*)?|sitecustomize\.py|usercustomize\.py|\.bazelrc)$/s;

/** Whether programs obey the file: shells, editors, git, package managers, or this agent. */
export function isObeyed(place: string, { home, folder }: Around): boolean {
  if (isIn(place, folder)) return OBEYED_IN_PROJECTS.test(place.slice(folder.length + 1));
  return (
    (home !== undefined && isIn(place, home) && OBEYED_AT_HOME.test(place.slice(home.length + 1))) ||
    OBEYED_IN_PROJECTS.test(place)
  );
}

/** Whether the file lets somebody log in, or becomes part of every login. */
export const isLoginKey = (place: string): boolean => /\/\.ssh(\/|$)/.test(place) || place.endsWith('/authorized_keys');

const ACCOUNTS =
  /^(\/private)?\/etc\/(passwd|shadow|gshadow|master\.passwd|security\/passwd|sudoers)(-|$|\.d(\/|$))|^\/proc\/(\d+|self|\*|1)?\/?(environ|mem|maps)$/;
const BROWSERS =
  /\/(\.mozilla|\.config\/(google-chrome|chromium|BraveSoftware|microsoft-edge|opera)|Library\/(Application Support\/(Google\/Chrome|Firefox|BraveSoftware)|Keychains|Cookies)|\.local\/share\/(keyrings|kwalletd))(\/|$)/;
const WALLETS =
  /\/(\.bitcoin|\.ethereum|\.electrum|\.config\/solana|wallet\.dat|\.local\/share\/TelegramDesktop)(\/|$)/;

/** Whether the file tells about accounts of the machine. */
export const isAccountFile = (place: string): boolean => ACCOUNTS.test(place);
/** Whether it belongs to the profile of a browser, a wallet, or a store of passwords. */
export const isProfile = (place: string): boolean => BROWSERS.test(place) || WALLETS.test(place);
/** A disk or a part of one. */
export const isDisk = (place: string): boolean =>
  /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|mapper\/|md|mem$|kmem$|port$)/.test(place);
