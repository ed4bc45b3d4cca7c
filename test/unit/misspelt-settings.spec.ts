import { SETTING_NAMES } from '#platform/config/process-environment.js';
import { misspeltSettings } from '#platform/config/misspelt-settings.js';
import { refusalOf } from '../support/settings-refusal.js';

/** What the platforms that such services run on put into the environment. */
const OF_PLATFORMS = `
  PATH HOME HOSTNAME LANG LC_ALL TERM USER LOGNAME SHELL PWD OLDPWD SHLVL TMPDIR TZ MAIL EDITOR DISPLAY NODE_VERSION YARN_VERSION
  NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy HOST_IP PORTS POST
  KUBERNETES_SERVICE_HOST KUBERNETES_PORT REDIS_SERVICE_HOST REDIS_PORT REDIS_HOST DATABASE_HOST DATABASE_PORT DATABASE_NAME
  DATABASE_USER DATABASE_PASSWORD POSTGRES_PASSWORD PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGSSLMODE SMTP_HOST SMTP_PORT
  SMTP_USER SMTP_PASSWORD MAIL_HOST BASE_PATH DATA_PATH LOG_FORMAT DYNO INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET SSH_AUTH_SOCK
  XDG_SESSION_ID XDG_RUNTIME_DIR npm_config_user_agent npm_lifecycle_event npm_package_name INIT_CWD CI GITHUB_SHA SECRET_KEY_BASE
  OTEL_EXPORTER_OTLP_ENDPOINTS OTEL_SERVICE_NAME OTEL_TRACES_SAMPLER HELD_TIMERS AWS_REGION GOOGLE_CLOUD_PROJECT WEBSITE_SITE_NAME
`;
const environmentOf = (...names: string[]) => Object.fromEntries(names.map((name) => [name, '1']));
const meant = (...names: string[]) => misspeltSettings(environmentOf(...names), SETTING_NAMES);

describe('a misspelt setting', () => {
  it.each([
    ['ACCES_TOKEN_TTL_SECONDS', 'ACCESS_TOKEN_TTL_SECONDS'],
    ['ACCESS_TOKEN_TTL', 'ACCESS_TOKEN_TTL_SECONDS'],
    ['ACCESS_TOKEN_TLL_SECOND', 'ACCESS_TOKEN_TTL_SECONDS'],
    ['BASE_ULR', 'BASE_URL'],
    ['BASEURL', 'BASE_URL'],
    ['base_url', 'BASE_URL'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['RATE_LIMIT', 'RATE_LIMIT_PER_HOUR'],
    ['ENCRYPTION_KY_FILE', 'ENCRYPTION_KEY_FILE'],
  ])('%s is reported with the name that was probably meant: %s', (given, setting) => {
    expect(meant(given)).toEqual([`${given} is not a setting and is ignored; ${setting} was probably meant`]);
  });

  it('is not reported where that setting is given too, so that it was noticed', () => {
    expect(meant('BASE_ULR', 'BASE_URL')).toEqual([]);
  });

  it('is never a variable of the platform, nor a setting, nor the file of one', () => {
    expect(meant(...OF_PLATFORMS.trim().split(/\s+/))).toEqual([]);
    expect(meant(...SETTING_NAMES, ...SETTING_NAMES.map((name) => `${name}_FILE`))).toEqual([]);
  });

  it('is named by the refusal of a start that lacks a setting', async () => {
    expect(await refusalOf({ NODE_ENV: 'production', BASE_ULR: 'https://auth.example' })).toContain(
      '  BASE_ULR is not a setting and is ignored; BASE_URL was probably meant',
    );
  });
});
