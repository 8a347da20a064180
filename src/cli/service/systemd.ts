import path from 'node:path';
import { type Command, MARK, requirePrintable, type ServiceManager, type ServicePlan } from './service.ts';

const UNIT = 'headgate.service';

interface SystemdPlaces {
  /** The folder of the units of the person, or of the machine. */
  folder: string;
  /** For the machine, instead of for the person. */
  isSystem: boolean;
}

/** systemd: a unit of the person (`systemctl --user`), or of the machine. */
export function systemd({ folder, isSystem }: SystemdPlaces): ServiceManager {
  const systemctl = (...words: string[]): Command => ['systemctl', ...(isSystem ? [] : ['--user']), ...words];
  return {
    file: path.join(folder, UNIT),
    toText: toUnit,
    unload: [],
    activate: [systemctl('daemon-reload'), systemctl('enable', UNIT), systemctl('restart', UNIT)],
    deactivate: [systemctl('disable', '--now', UNIT)],
    forget: [systemctl('daemon-reload')],
    probe: systemctl('is-active', UNIT),
    hints: isSystem
      ? [`API keys belong into ${environmentFile(true)} (mode 0600). Logs: journalctl -u headgate`]
      : [
          `API keys belong into ~/.config/headgate.env (mode 0600). Logs: journalctl --user -u headgate`,
          'To keep it running while you are logged out: loginctl enable-linger',
        ],
  };
}

const environmentFile = (isSystem: boolean) => (isSystem ? '/etc/headgate.env' : '%h/.config/headgate.env');

/** After `headgate restart`, systemd reads here which process goes on: it looks when the former one ends. */
const PID_FILE = '%t/headgate/daemon.pid';

/**
 * Hardened as far as the sandbox of commands still works: it needs namespaces and mounts, and a /proc without anything
 * mounted over it, so the settings that restrict those are missing.
 */
function toUnit({ command, home, user }: ServicePlan): string {
  requirePrintable([...command, home]);
  const isSystem = user !== undefined;
  return `# ${MARK}. Change it with: systemctl${isSystem ? '' : ' --user'} edit headgate
[Unit]
Description=Headgate
StartLimitIntervalSec=0
${isSystem ? 'Wants=network-online.target\nAfter=network-online.target\n' : ''}
[Service]
Type=exec
ExecStart=${command.map((word, at) => toWord(word, at === 0 ? 'plain' : 'argument')).join(' ')}
Environment=${toWord(`HEADGATE_HOME=${home}`, 'plain')}
Environment=HEADGATE_PID_FILE=${PID_FILE}
PIDFile=${PID_FILE}
RuntimeDirectory=headgate
RuntimeDirectoryMode=0700
EnvironmentFile=-${environmentFile(isSystem)}
${isSystem ? `User=${user}\n` : ''}Delegate=yes
KillMode=mixed
TimeoutStopSec=10
Restart=on-failure
RestartSec=5
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
${isSystem ? 'CapabilityBoundingSet=\nProtectSystem=full\n' : ''}
[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}
`;
}

/** A word of a setting: in quotes, with the specifiers of systemd escaped, and in arguments its variables, too. */
function toWord(text: string, kind: 'argument' | 'plain'): string {
  const escaped = text.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${kind === 'argument' ? escaped.replaceAll('$', () => '$$') : escaped}"`;
}
