"""Makes a container on an Azurite on loopback, with the account and key of every emulator: container.py ENDPOINT NAME"""
import base64
import email.utils
import hashlib
import hmac
import sys
import urllib.request

ACCOUNT = 'devstoreaccount1'
# Not a secret: every emulator has it.
KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

endpoint, name = sys.argv[1:]
headers = {'x-ms-date': email.utils.formatdate(usegmt=True), 'x-ms-version': '2021-08-06'}
shown = ''.join(f'{key}:{value}\n' for key, value in sorted(headers.items()))
# The account stands twice: once for itself, once as the first part of an emulator's path.
signed = 'PUT' + '\n' * 12 + f'{shown}/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container'
code = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
headers['Authorization'] = f'SharedKey {ACCOUNT}:{code}'
request = urllib.request.Request(f'{endpoint}/{ACCOUNT}/{name}?restype=container', method='PUT', headers=headers)
with urllib.request.urlopen(request) as answer:
    assert answer.status == 201, answer.status
