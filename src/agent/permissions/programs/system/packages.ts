import type { ShellWord } from '../../reading/shell-word.ts';
import { addEffect, addUnknown, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addNetwork } from '../targets.ts';

interface PackageProgram {
  /** Commands that only show what is there. */
  shows: RegExp;
  /** Commands that only ask a registry. */
  asks?: RegExp;
  /** Whether it changes the machine, not only the project. */
  isSystem?: boolean;
  /** Whether commands that show what is there never connect. */
  isOffline?: boolean;
}

/** Installs or builds: it uses the network, writes below the folder and runs what others wrote. */
function toPackages({ shows, asks, isSystem = false, isOffline = true }: PackageProgram): ProgramRule {
  return (call) => {
    const command = call.args.find(({ start }) => !start.startsWith('-'));
    // Their caches and logs are somewhere in the home.
    call.findings.addEffect({ kind: 'write', target: '~/.cache', certain: false });
    const name = hasPlainOptions(call) ? command?.value : undefined;
    const isShown = isVersion(call.args) || (name !== undefined && shows.test(name));
    if (isShown && isOffline) return;
    addNetwork(call); // npm looks for a newer version of itself
    if (isShown || (name !== undefined && asks?.test(name))) return;
    addInstallation(call, command, isSystem);
  };
}

function addInstallation(call: ProgramCall, command: ShellWord | undefined, isSystem: boolean): void {
  const shown = [call.name, ...call.args.slice(0, 3).map(({ written }) => written)].join(' ');
  if (isSystem) addEffect(call, 'system', shown);
  else addFolder(call, 'write');
  addUnknown(call, command);
}

const isVersion = (args: readonly ShellWord[]): boolean =>
  args.length === 1 && /^(--version|-v|-V|version|--help|-h)$/.test(args[0]?.value ?? '');

/** Options that lead to other programs, settings or folders. */
const hasPlainOptions = ({ args }: ProgramCall): boolean =>
  !args.some(
    ({ start, value }) =>
      (value === undefined && start === '') ||
      /^--(config|prefix|cache|userconfig|globalconfig|script-shell|node-options|viewer|editor|git|python|manifest-path|target-dir|root|log)|^-o/.test(
        start,
      ),
  );

/** Builds with rules from files of the project. */
const builds: ProgramRule = (call) => {
  if (isVersion(call.args)) return;
  addFolder(call, 'write');
  addUnknown(
    call,
    call.args.find(({ start }) => !start.startsWith('-')),
  );
};

/** Rules of programs that install packages and build projects. */
export const PACKAGES = toRules({
  'npm pnpm': toPackages({
    shows: /^(ls|list|ll|root|prefix|bin|help|why|explain)$/,
    asks: /^(view|info|show|search|outdated|ping|whoami)$/,
    isOffline: false,
  }),
  yarn: toPackages({ shows: /^(list|why|bin|dir)$/, asks: /^(info|outdated)$/, isOffline: false }),
  'npx pnpx bunx uvx pipx uv poetry conda mamba': toPackages({ shows: /^$/ }),
  'pip pip3': toPackages({ shows: /^(list|show|freeze|check|help|inspect)$/, asks: /^(index)$/ }),
  cargo: toPackages({ shows: /^(version|help|locate-project|pkgid)$/, asks: /^(search|info)$/ }),
  'go rustup': toPackages({ shows: /^(version|show|which)$/ }),
  'gem bundle composer mix': toPackages({ shows: /^(list|show|help|which)$/ }),
  'apt apt-get aptitude': toPackages({ shows: /^(list|search|show|policy|depends|rdepends)$/, isSystem: true }),
  'apt-cache dpkg-query': { lenient: true },
  dpkg: (call) => {
    const isShown =
      call.args.length > 0 &&
      /^(-l|-L|-s|-S|-p|-I|-c|--list|--listfiles|--status|--search|--print-architecture|--version|--get-selections)$/.test(
        call.args[0]?.value ?? '',
      );
    if (isShown) return;
    addEffect(call, 'system', 'dpkg');
    addUnknown(call, call.args[0]);
  },
  'yum dnf zypper pacman apk emerge port snap flatpak nix nix-env brew rpm': toPackages({
    shows: /^$/,
    isSystem: true,
  }),
  'make gmake ninja cmake meson bazel mvn gradle ant rake just task tox nox': builds,
});
