import path from 'node:path';
import { MARK, requirePrintable, type ServiceManager, type ServicePlan } from './service.ts';

const LABEL = 'headgate';

interface LaunchdPlaces {
  /** The folder of the agents of the person, or of the daemons of the machine. */
  folder: string;
  /** Where the log goes. */
  log: string;
  /** The person; undefined for a service of the machine. */
  uid: number | undefined;
}

/** launchd: an agent of the person, or a daemon of the machine. */
export function launchd({ folder, log, uid }: LaunchdPlaces): ServiceManager {
  const file = path.join(folder, `${LABEL}.plist`);
  const domain = uid === undefined ? 'system' : `gui/${uid}`;
  return {
    file,
    toText: (plan) => toPropertyList(plan, log),
    // A loaded service, running or not, cannot be loaded again, and a service that is not loaded cannot be unloaded.
    unload: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
    activate: [['launchctl', 'bootstrap', domain, file]],
    deactivate: [],
    forget: [],
    probe: ['launchctl', 'print', `${domain}/${LABEL}`],
    hints: [`API keys belong into config.json, or into the keychain of your choice. Log: ${log}`],
  };
}

function toPropertyList({ command, home, user }: ServicePlan, log: string): string {
  requirePrintable([...command, home, log]);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${toXml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HEADGATE_HOME</key>
    <string>${toXml(home)}</string>
  </dict>
${user === undefined ? '' : `  <key>UserName</key>\n  <string>${toXml(user)}</string>\n`}  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>10</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>${toXml(log)}</string>
</dict>
</plist>
`;
}

const toXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
