"""Makes a bucket on an S3 server on loopback: bucket.py ENDPOINT NAME"""
import sys

import boto3

endpoint, name = sys.argv[1:]
boto3.client('s3', endpoint_url=endpoint).create_bucket(Bucket=name)
