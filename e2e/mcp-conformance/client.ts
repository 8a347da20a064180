// The "client" that the conformance suite starts: it passes the address of the suite's server on to the daemon's driver.
const [url = ''] = process.argv.slice(2);
const {
  DRIVER_URL: driver = '',
  MCP_CONFORMANCE_SCENARIO: scenario = '',
  MCP_CONFORMANCE_CONTEXT: context,
} = process.env;
const response = await fetch(driver, { method: 'POST', body: JSON.stringify({ scenario, url, context }) });
process.stdout.write(await response.text());
process.exitCode = response.ok ? 0 : 1;
