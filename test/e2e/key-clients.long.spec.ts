import { exportPKCS8 } from 'jose';
import { byAssertion, clientWithKeys, newKey } from '../support/client-keys.js';
import { describeUnless } from '../support/left-out.js';
import { isAccepted } from '../support/oauth.js';
import { LACKING, PagePrograms } from '../support/page-programs.js';
import { useSharedService } from '../support/spec.js';

const service = useSharedService();

/** A client with a new key, which is in `private.pem` of this folder. */
async function clientWithKey(programs: PagePrograms, alg: string) {
  const key = await newKey(alg);
  await programs.add('private.pem', await exportPKCS8(key.privateKey));
  return { CLIENT_ID: (await clientWithKeys(service, [key])).id, KEY_ID: key.kid };
}

describeUnless(LACKING.authlib, 'The program on the page about Authlib for a client with keys', () => {
  let programs: PagePrograms;
  beforeAll(async () => (programs = await PagePrograms.of(service.http, '/docs/libraries/authlib')));
  afterAll(() => programs.remove());

  it('gets a token and reads the users of the client', async () => {
    const { code, lines, err } = await programs
      .start('keys.py', await clientWithKey(programs, 'ES256'))
      .end();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(lines[0]!)).toEqual([]);
  });

  it('is refused as the library is by default: with RS256, for the token endpoint, and for an hour', async () => {
    const settings = await clientWithKey(programs, 'PS256');
    const own = programs.files.get('keys.py')!.replace('Keys())', 'PrivateKeyJWT())');
    await programs.add('default.py', own);
    const { code, err } = await programs.start('default.py', settings).end();
    expect(code).toBe(1);
    expect(err).toContain('invalid_client');
  });
});

/** Signs with the library of Square (Debian has it), in the way that its documentation shows. */
const SIGNS = `package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"time"

	"gopkg.in/square/go-jose.v2"
	"gopkg.in/square/go-jose.v2/jwt"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	text, err := os.ReadFile("private.pem")
	check(err)
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	options := (&jose.SignerOptions{}).WithHeader("kid", os.Getenv("KEY_ID")).WithType("JWT")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(os.Args[1]), Key: key}, options)
	check(err)
	id := os.Getenv("CLIENT_ID")
	claims := jwt.Claims{
		Issuer: id, Subject: id, ID: fmt.Sprint(time.Now().UnixNano()),
		IssuedAt: jwt.NewNumericDate(time.Now()), Expiry: jwt.NewNumericDate(time.Now().Add(time.Minute)),
	}
	// Claims.Audience would always be a list.
	audience := map[string]any{"aud": os.Args[2]}
	if len(os.Args) > 3 {
		audience["aud"] = os.Args[2:]
	}
	assertion, err := jwt.Signed(signer).Claims(claims).Claims(audience).CompactSerialize()
	check(err)
	fmt.Println(assertion)
}
`;

describeUnless(LACKING['go-jose'], 'Assertions that a JOSE library for Go signs', () => {
  let programs: PagePrograms;
  beforeAll(async () => {
    programs = await PagePrograms.of(service.http, '/docs/libraries/go-oauth2');
    await programs.add('sign.go', SIGNS);
  });
  afterAll(() => programs.remove());

  type Settings = Awaited<ReturnType<typeof clientWithKey>>;
  const tokenWith = async (algorithm: string, settings: Settings, ...audience: string[]) => {
    const { code, lines, err } = await programs.start('sign.go', settings, [algorithm, ...audience]).end();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { json } = await service.http.token({
      grant_type: 'client_credentials',
      ...byAssertion(lines[0]!),
    });
    return json as { access_token?: string; error?: string };
  };

  it.each(['PS256', 'ES256', 'EdDSA'])(
    'are accepted with %s, and refused for another address or a list of them',
    async (alg) => {
      const settings = await clientWithKey(programs, alg);
      const endpoint = `${service.url}/o/token`;
      expect((await tokenWith(alg, settings, endpoint)).error).toBe('invalid_client');
      expect((await tokenWith(alg, settings, service.url, endpoint)).error).toBe('invalid_client');
      const { access_token: token } = await tokenWith(alg, settings, service.url);
      expect(await isAccepted(service.http, token!)).toBe(true);
    },
  );

  it.each(['RS256', 'PS512'])('are refused with %s', async (alg) => {
    const settings = await clientWithKey(programs, 'PS256');
    expect((await tokenWith(alg, settings, service.url)).error).toBe('invalid_client');
  });
});
