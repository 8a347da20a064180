import type { Finding } from '../assessment.ts';
import { hasOption, type Program, valueBehind } from './judged-program.ts';
import { always, found, type ProgramRules } from './program-rule.ts';

const SUDO = found('sudo-su', 'high', 'It acts as another user.');
const DISKS = found('disk-wipe', 'critical', 'It formats or overwrites a disk.');
const ACCOUNTS = found('control-plane-mutation', 'high', 'It changes accounts or passwords of the machine.');
const FIREWALL = found('control-plane-mutation', 'high', 'It changes the network or the kernel of the machine.');
function control({ name, args, operands }: Program): Finding | undefined {
  const verb = operands[name === 'service' || name === 'rc-service' ? 1 : 0] ?? '';
  if (/^(status|list-\w+|list|show|cat|is-\w+|get-default|print|info)?$/.test(verb) && !args.includes('--now'))
    return undefined;
  return found('control-plane-mutation', 'high', `It changes what runs on the machine: ${name} ${verb}.`);
}

function crontab(program: Program): Finding | undefined {
  if (hasOption(program, '-l', '-h', '-V', '--help') && !hasOption(program, '-r', '-e')) return undefined;
  return found('control-plane-mutation', 'high', 'It changes what the machine runs later.');
}

function kill(program: Program): Finding | undefined {
  const { name, args } = program;
  if (name === 'kill' && args.includes('-l')) return undefined;
  if (name === 'kill' && args.includes('-1')) return found('kill-signal', 'critical', 'It ends all processes.');
  if (
    name !== 'kill' ||
    args.some((arg) => /^-(9|KILL|SIGKILL)$/i.test(arg)) ||
    /^(9|KILL|SIGKILL)$/i.test(valueBehind(program, '-s') ?? '')
  )
    return found('kill-signal', 'high', 'It ends processes without letting them finish.');
  return found('kill', 'medium', 'It ends a process.');
}

function chmod({ args, operands }: Program): Finding | undefined {
  const mode = args.find((arg) => !arg.startsWith('--') && !/^-[RvcfhHLP]+$/.test(arg)) ?? '';
  const isOpen =
    /^0?[0-7]?[0-7]{0,2}[2367]$/.test(mode) || /^(a|(?=[ug]*o)[ugo]+|)\+[rx]*w/.test(mode) || /^(a|ugo)=rw/.test(mode);
  const isSetId = /\+[rwx]*s|^[2-7][0-7]{3}$/.test(mode) && !/^0?[0-7]{3}$/.test(mode);
  const isAbsolute = operands.some((one) => /^["']?[/~$]/.test(one));
  if (isSetId) return found('set-user-id', 'critical', 'It lets a program run as its owner.');
  if (isOpen && isAbsolute)
    return found('chmod-777-root', 'critical', `It lets everybody change ${operands.at(-1) ?? ''}.`);
  if (isOpen) return found('chmod-777', 'high', `It lets everybody change ${operands.at(-1) ?? ''}.`);
  return undefined;
}

function chown({ args, operands }: Program): Finding {
  const isDeep = args.some((arg) => /^-[a-zA-Z]*R/.test(arg) || arg === '--recursive');
  const isAbsolute = operands.slice(1).some((one) => /^["']?[/~$]/.test(one));
  return found('chown', isDeep && isAbsolute ? 'critical' : 'high', 'It gives files to another user.');
}

function dd(program: Program): Finding | undefined {
  const target = program.args.find((arg) => arg.startsWith('of='))?.slice(3);
  if (target === undefined) return undefined;
  if (target.startsWith('/dev/') && target !== '/dev/null') return DISKS;
  // As in the specification, where every dd with an input counts.
  return program.args.some((arg) => arg.startsWith('if='))
    ? found('disk-wipe', 'critical', `It overwrites ${target} block by block.`)
    : undefined;
}

function shutdown(): Finding {
  return found('control-plane-mutation', 'critical', 'It stops the machine.');
}

/** Rules of programs that change disks, rights, accounts, services and processes. */
export const MACHINE_RULES: ProgramRules = {
  'sudo su doas pkexec runuser run0 gosu setpriv': always(SUDO),
  'mkfs mkswap wipefs fdisk sfdisk parted gdisk sgdisk blkdiscard cryptsetup badblocks hdparm nwipe': always(DISKS),
  'mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mke2fs zpool zfs lvremove vgremove pvremove mdadm':
    always(DISKS),
  'useradd userdel usermod adduser deluser groupadd groupdel groupmod gpasswd passwd chpasswd chsh chfn visudo vipw newusers htpasswd':
    always(ACCOUNTS),
  'iptables ip6tables nft ufw firewall-cmd insmod rmmod modprobe kexec setenforce update-grub grub-install efibootmgr setcap chattr mount umount losetup swapoff':
    always(FIREWALL),
  'reboot shutdown halt poweroff telinit init': shutdown,
  'systemctl launchctl service rc-service initctl supervisorctl pm2 rc-update update-rc.d chkconfig loginctl': control,
  crontab,
  'at batch': always(found('control-plane-mutation', 'high', 'It changes what the machine runs later.')),
  sysctl: ({ args }) => (args.some((arg) => /^-w|=|^-p|^--write|^--load/.test(arg)) ? FIREWALL : undefined),
  'kill pkill killall killall5 xkill fuser skill': kill,
  chmod,
  'chown chgrp setfacl': chown,
  dd,
  'shred srm': () => found('shred', 'high', 'It destroys files so that they cannot be recovered.'),
};
