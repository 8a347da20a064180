import { addEffect, addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';

/** Ends processes; which ones, the arguments tell. */
const ends: ProgramRule = (call) => {
  if (call.args.length === 1 && /^-(l|L|-list|-table)$/.test(call.args[0]?.value ?? '')) return;
  const targets = call.args.filter(
    ({ start, value }) => value === undefined || !/^-[A-Z]+$|^-\d{1,2}$|^-s$/.test(start),
  );
  for (const word of targets) addUse(call, 'process', word);
  if (targets.length === 0) addEffect(call, 'process', call.name);
};

/** Changes the machine, unless the command is one of those that only show. */
function toChange(shows: RegExp): ProgramRule {
  return (call) => {
    const command = call.args.find(({ start }) => !start.startsWith('-'));
    const isShown =
      command === undefined ? call.args.length === 0 : command.value !== undefined && shows.test(command.value);
    if (!isShown) addChange(call);
  };
}

function addChange(call: ProgramCall): void {
  addEffect(call, 'system', [call.name, ...call.args.slice(0, 3).map(({ written }) => written)].join(' '));
}

/** Starts services, whose programs are unknown. */
const systemctl: ProgramRule = (call) => {
  toChange(/^(status|show|cat|list-\w[\w-]*|is-\w+|get-default|help)$/)(call);
  for (const word of call.args) if (/^-(H|M)|^--(host|machine|root)/.test(word.start)) addUnknown(call, word);
};

function crontab(call: ProgramCall): void {
  if (call.args.length === 1 && call.args[0]?.value === '-l') return;
  addChange(call);
  addUnknown(call); // what will run
  for (const word of call.args) if (!word.start.startsWith('-')) addUse(call, 'read', word);
}

function sysctl(call: ProgramCall): void {
  const isShown = call.args.every(
    ({ value }) => value !== undefined && /^(-[aAnNe]+|[\w./-]+)$/.test(value) && !/^-.*[wpf]/.test(value),
  );
  if (!isShown) addChange(call);
}

const changes: ProgramRule = (call) => addChange(call);

/** What will run later is unknown. */
const schedules: ProgramRule = (call) => {
  addChange(call);
  addUnknown(call);
};

const accounts: ProgramRule = (call) => {
  addChange(call);
  addEffect(call, 'privilege', call.name);
};

/** Rules of programs that change processes, services and accounts. */
export const MACHINE = toRules({
  'kill pkill killall killall5 skill xkill fuser renice': ends,
  systemctl,
  'service initctl rc-service supervisorctl launchctl pm2': schedules,
  crontab,
  'at batch': schedules,
  atq: () => undefined,
  sysctl,
  'reboot shutdown halt poweroff init telinit insmod rmmod modprobe depmod kexec iptables ip6tables nft ufw firewall-cmd ifconfig route tc ldconfig update-alternatives hwclock timedatectl localectl hostnamectl loginctl setenforce grub-install update-grub update-initramfs dpkg-reconfigure debconf-set-selections update-rc.d chkconfig':
    changes,
  'useradd userdel usermod adduser deluser groupadd groupdel groupmod gpasswd passwd chpasswd chsh chfn visudo vipw newusers':
    accounts,
});
